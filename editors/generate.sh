#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Writes the grammars of editors from their templates and the tables of the compiler, so
# that a new word, unit or operator is coloured as soon as it exists:
#
#     sh editors/generate.sh [TARGET]
#
# TARGET is the directory to write into (this one if left out). The test
# tests/editors.tap holds what is committed against what this writes.
#
# In a template @NAME@ stands for the words of a kind (see `kinds`) with blanks between,
# @vim_NAME@ and @json_NAME@ for a pattern of any of them, @lisp_NAME@ for strings.

set -eu
here=$(dirname "$0")
top=$here/..
target=${1:-$here}

# The first string of each row of a kind in a table.
words() {
	sed -n "s/^$1(\([A-Z_0-9]*,[[:space:]]*\)\{0,1\}\"\([^\"]*\)\".*/\2/p" "$top/$2"
}

list() {
	sort -u | tr '\n' ' ' | sed 's/ $//'
}

reserved=$(words RESERVED lang/words.def | grep -v -e '^true$' -e '^false$' | list)
openers=$(words WORD lang/words.def | list)
symbols=$(words SYMBOL lang/symbols.def | list)
variables=$(words PLAN_NAME lang/symbols.def | list)
operators=$( (words OPERATOR compiler/operators.def; echo experts) |
	grep -v -e '^[^a-z]' -e '^dispatch$' -e '^combine$' | list)
builtins=$(sed -n 's/^	{ "\([a-z0-9]*\)", .*apply_.*/\1/p' "$top/lang/builtin.c" | list)
types=$( (echo int; echo float; echo bool; echo string; words QUANTITY lang/units.def) | list)
blocks='children layers peak place plan require search'
# Longer units first, so that none hides behind its beginning.
units=$(words UNIT lang/units.def | list | tr ' ' '\n' | awk '{ print length($0), $0 }' |
	LC_ALL=C sort -k1,1nr -k2 | sed 's/^[0-9]* //' | tr '\n' ' ' | sed 's/ $//')
kinds='reserved openers symbols variables operators builtins types blocks units'

for kind in $kinds; do
	eval "words=\$$kind"
	export "$kind=$words" \
		"vim_$kind=$(printf '%s' "$words" | sed 's/ /\\|/g')" \
		"json_$kind=$(printf '%s' "$words" | sed 's/[$.*+?^{}()|]/\\\\&/g; s/ /|/g')" \
		"lisp_$kind=\"$(printf '%s' "$words" | sed 's/ /" "/g')\""
done

# fill TEMPLATE FILE
fill() {
	mkdir -p "$(dirname "$target/$2")"
	LC_ALL=C awk '{
		rest = $0
		while (match(rest, /@[a-z_]+@/)) {
			name = substr(rest, RSTART + 1, RLENGTH - 2)
			printf "%s%s", substr(rest, 1, RSTART - 1), ENVIRON[name]
			rest = substr(rest, RSTART + RLENGTH)
		}
		print rest
	}' "$here/$1" >"$target/$2"
}

fill vim/nest.vim.in vim/syntax/nest.vim
fill vscode/nest.tmLanguage.json.in vscode/syntaxes/nest.tmLanguage.json
fill emacs/nest-mode.el.in emacs/nest-mode.el
