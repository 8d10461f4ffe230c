# bash completion of nestc                                  -*- shell-script -*-
# SPDX-License-Identifier: MIT
#
# What there is to complete is asked of nestc itself, whose help is made from
# the tables it reads the command line with: this file knows no option.

# The commands, one a line.
_nestc_commands() {
	nestc --help 2>/dev/null |
		sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
}

# The options of a command, one a line, long ones with their '='.
_nestc_options() {
	nestc "$1" --help 2>/dev/null |
		sed -n 's/^  \(-[A-Za-z]\), \{1,\}\(--[a-z-]*=\{0,1\}\).*/\1\n\2/p
			s/^ \{3,\}\(--[a-z-]*=\{0,1\}\).*/\1/p'
}

# The words an option of a command may have, one a line; kinds of output too.
_nestc_values() {
	if [ "$2" = --emit ]; then
		nestc "$1" --help 2>/dev/null |
			sed -n '/^Kinds of --emit/,$s/^  \([a-z][a-z-]*\) .*/\1/p'
		return
	fi
	nestc "$1" --help 2>/dev/null |
		sed -n "s/^.* $2=\([^ ]*\).*/\1/p" |
		tr '|' '\n' | grep -x '[a-z0-9-]*'
}

# The first word that is no option.
_nestc_command() {
	local word
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		case $word in
		-*) ;;
		*) printf '%s' "$word"; return ;;
		esac
	done
}

# The first spec named so far.
_nestc_spec() {
	local word
	for word in "${COMP_WORDS[@]:1}"; do
		case $word in *.nest) printf '%s' "$word"; return ;; esac
	done
}

_nestc_params() {
	local spec
	spec=$(_nestc_spec)
	[ -n "$spec" ] && nestc params "$spec" --json 2>/dev/null |
		sed -n 's/.*"name": "\([^"]*\)".*/\1=/p'
}

_nestc() {
	local command current previous words
	command=$(_nestc_command)
	current=${COMP_WORDS[COMP_CWORD]}
	previous=${COMP_WORDS[COMP_CWORD-1]}
	# bash takes the '=' for a word of its own.
	if [ "$current" = = ]; then
		current=
	elif [ "$previous" = = ]; then
		previous=${COMP_WORDS[COMP_CWORD-2]}
	fi
	COMPREPLY=()
	if [ -z "$command" ]; then
		words=$(_nestc_commands)
		COMPREPLY=($(compgen -W "$words help --help --version" -- "$current"))
		return
	fi
	case $previous in
	-D | --define)
		words=$(_nestc_params)
		COMPREPLY=($(compgen -W "$words" -- "$current"))
		compopt -o nospace 2>/dev/null
		return
		;;
	-I | --import-dir)
		COMPREPLY=($(compgen -d -- "$current"))
		return
		;;
	--*)
		words=$(_nestc_values "$command" "$previous")
		if [ -n "$words" ]; then
			COMPREPLY=($(compgen -W "$words" -- "$current"))
			return
		fi
		;;
	esac
	case $current in
	-*)
		words=$(_nestc_options "$command")
		COMPREPLY=($(compgen -W "$words" -- "$current"))
		case ${COMPREPLY[0]-} in *=) compopt -o nospace 2>/dev/null ;; esac
		return
		;;
	esac
	case $command in
	help) COMPREPLY=($(compgen -W "$(_nestc_commands)" -- "$current")) ;;
	solve) COMPREPLY=($(compgen -f -X '!*.json' -- "$current") $(compgen -d -- "$current")) ;;
	*) COMPREPLY=($(compgen -f -X '!*.nest' -- "$current") $(compgen -d -- "$current")) ;;
	esac
}

complete -o filenames -F _nestc nestc
