/* SPDX-License-Identifier: MIT
 *
 * Certificates of parts of a search.
 */
#include "solver/plan.h"

void certificate_add(struct certificate *sum, const struct certificate *more)
{
	sum->configurations += more->configurations;
	sum->priced += more->priced;
	sum->bounded += more->bounded;
	sum->infeasible_memory += more->infeasible_memory;
	sum->infeasible_requirement += more->infeasible_requirement;
	sum->infeasible_placement += more->infeasible_placement;
	sum->partitions += more->partitions;
	sum->out_of_time |= more->out_of_time;
}
