/* SPDX-License-Identifier: MIT
 *
 * The words for what goes over the network, the same in all reports.
 */
#ifndef NEST_COMPILER_NETWORK_NAMES_H
#define NEST_COMPILER_NETWORK_NAMES_H

#include "solver/dimension.h"

/* "all-reduce". */
const char *collective_name(enum collective collective);
/* "data x context". */
const char *group_name(enum group group);
/* "hierarchical". */
const char *algorithm_name(enum algorithm algorithm);

#endif
