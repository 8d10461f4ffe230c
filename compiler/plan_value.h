/* SPDX-License-Identifier: MIT
 *
 * The plan of a job as a record that tests can ask: its variables, its
 * outcomes, and its stages.
 */
#ifndef NEST_COMPILER_PLAN_VALUE_H
#define NEST_COMPILER_PLAN_VALUE_H

struct ast;
struct cli;
struct compilation;
struct eval;
struct scope;
struct value;

/* Lets the expressions of a compilation name its jobs. */
void plan_value_allow(const struct cli *cli, struct compilation *compilation);
/* Takes that back. */
void plan_value_forbid(struct compilation *compilation);

#endif
