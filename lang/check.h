/* SPDX-License-Identifier: MIT
 *
 * Static checks of a whole module, used or not: every name means something, no
 * name is declared twice, calls fit what they call, and nothing needs itself.
 */
#ifndef NEST_LANG_CHECK_H
#define NEST_LANG_CHECK_H

struct ast;
struct compilation;
struct module;
struct scope;

/* Reports all that is wrong with the names of a module whose imports have
 * been taken. */
void check_module(struct compilation *compilation, const struct module *module);

#endif
