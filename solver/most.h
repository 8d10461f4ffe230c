/* SPDX-License-Identifier: MIT
 *
 * The larger and the smaller of two numbers, in the one form that all bounds and
 * prices use: of a NaN and a number it is the second, unlike fmax and fmin.
 */
#ifndef NEST_SOLVER_MOST_H
#define NEST_SOLVER_MOST_H

static inline double most(double a, double b)
{
	return a > b ? a : b;
}

static inline double least(double a, double b)
{
	return a < b ? a : b;
}

#endif
