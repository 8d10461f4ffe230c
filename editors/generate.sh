#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Writes the grammars of editors from the tables of the compiler, so that a new
# word, unit or operator is coloured as soon as it exists:
#
#     sh editors/generate.sh [TARGET]
#
# TARGET is the directory to write into (this one if left out). The test
# tests/editors.tap holds what is committed against what this writes.

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

alternatives() {
	LC_ALL=C sort -u | sed 's/[.*+?^${}()|[\]\\\/]/\\&/g' | tr '\n' '|' | sed 's/|$//'
}

reserved=$(words RESERVED lang/words.def | grep -v -e '^true$' -e '^false$' | list)
openers=$(words WORD lang/words.def | list)
symbols=$(words SYMBOL lang/symbols.def | list)
variables=$(words PLAN_NAME lang/symbols.def | list)
operators=$( (words OPERATOR compiler/operators.def; echo experts) |
	grep -v -e '^[^a-z]' -e '^dispatch$' -e '^combine$' | list)
builtins=$(sed -n 's/^	{ "\([a-z0-9]*\)", .*apply_.*/\1/p' "$top/lang/builtin.c" | list)
types=$( (echo int; echo float; echo bool; echo string; words QUANTITY lang/units.def) | list)
units=$(words UNIT lang/units.def | list)
blocks='children layers peak place plan require search'

or() {
	printf '%s' "$1" | tr ' ' '\n' | alternatives
}

# Longer units first, so that none hides behind its beginning.
unit_pattern=$(printf '%s\n' $units | awk '{ print length($0), $0 }' |
	LC_ALL=C sort -k1,1nr -k2 | sed 's/^[0-9]* //; s/\$/\\$/' | tr '\n' '|' | sed 's/|$//')

write_vim() {
	mkdir -p "$target/vim/syntax"
	cat >"$target/vim/syntax/nest.vim" <<END
" Vim syntax file
" Language: nest, specs of the training of large models
" Made by editors/generate.sh from the tables of nestc; not changed by hand.
" SPDX-License-Identifier: MIT

if exists('b:current_syntax')
  finish
endif

syntax case match
syntax iskeyword @,48-57,_

syntax keyword nestKeyword $reserved
syntax keyword nestBoolean true false
syntax keyword nestSymbol $symbols
syntax keyword nestVariable $variables
syntax keyword nestType contained $types
syntax match nestOpener /\\<\\%($(printf '%s' "$openers" | sed 's/ /\\|/g')\\)\\>\\ze\\s\\+\\h\\w*\\_s*[({]/
syntax match nestBlock /\\<\\%($(printf '%s' "$blocks" | sed 's/ /\\|/g')\\)\\>\\ze\\%(\\s\\+\\h\\w*\\)\\?\\s*{/
syntax match nestOperator /\\<\\%($(printf '%s' "$operators" | sed 's/ /\\|/g')\\)\\>\\ze(/
syntax match nestFunction /\\<\\%($(printf '%s' "$builtins" | sed 's/ /\\|/g')\\)\\>\\ze(/
syntax match nestField /\\<\\h\\w*\\ze\\s*=[^=]/
syntax match nestType /:\\s*\\zs\\%($(printf '%s' "$types" | sed 's/ /\\|/g')\\)\\>/
syntax match nestNumber /\\<\\d[0-9_]*\\%(\\.\\d[0-9_]*\\)\\?\\%([eE][+-]\\?\\d\\+\\)\\?\\%( \\?\\%($(printf '%s' "$unit_pattern" | sed 's/|/\\|/g; s/\\\$/\$/g')\\)\\%(\\/\\%($(printf '%s' "$unit_pattern" | sed 's/|/\\|/g; s/\\\$/\$/g')\\)\\)\\?\\>\\|%\\)\\?/
syntax region nestString start=/"/ skip=/\\\\./ end=/"/ oneline
syntax match nestComment /#.*/ contains=nestTodo
syntax match nestDocumentation /##.*/ contains=nestTodo
syntax keyword nestTodo contained TODO FIXME XXX assumed Deprecated

highlight default link nestKeyword Keyword
highlight default link nestBoolean Boolean
highlight default link nestSymbol Constant
highlight default link nestVariable Identifier
highlight default link nestType Type
highlight default link nestOpener Structure
highlight default link nestBlock Structure
highlight default link nestOperator Function
highlight default link nestFunction Function
highlight default link nestNumber Number
highlight default link nestString String
highlight default link nestComment Comment
highlight default link nestDocumentation SpecialComment
highlight default link nestTodo Todo

let b:current_syntax = 'nest'
END
}

# JSON has its own backslashes.
json() {
	printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g'
}

write_textmate() {
	mkdir -p "$target/vscode/syntaxes"
	number="\\b[0-9][0-9_]*(?:\\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9]+)?(?: ?(?:$unit_pattern)(?:/(?:$unit_pattern))?(?![A-Za-z0-9_])|%)?"
	cat >"$target/vscode/syntaxes/nest.tmLanguage.json" <<END
{
  "\$schema": "https://raw.githubusercontent.com/martinring/tmlanguage/master/tmlanguage.json",
  "comment": "Made by editors/generate.sh from the tables of nestc; not changed by hand. SPDX-License-Identifier: MIT",
  "name": "nest",
  "scopeName": "source.nest",
  "fileTypes": ["nest"],
  "patterns": [
    {"name": "comment.line.documentation.nest", "match": "##.*\$"},
    {"name": "comment.line.number-sign.nest", "match": "#.*\$"},
    {
      "name": "string.quoted.double.nest",
      "begin": "\"",
      "end": "\"|\$",
      "patterns": [{"name": "constant.character.escape.nest", "match": "\\\\\\\\."}]
    },
    {"name": "constant.numeric.nest", "match": "$(json "$number")"},
    {
      "match": "$(json "\\b($(or "$openers"))\\s+([A-Za-z_][A-Za-z0-9_]*)(?=\\s*[({])")",
      "captures": {
        "1": {"name": "storage.type.nest"},
        "2": {"name": "entity.name.type.nest"}
      }
    },
    {"name": "storage.type.block.nest", "match": "$(json "\\b(?:$(or "$blocks"))\\b(?=(?:\\s+[A-Za-z_][A-Za-z0-9_]*)?\\s*\\{)")"},
    {"name": "keyword.control.nest", "match": "$(json "\\b(?:$(or "$reserved"))\\b")"},
    {"name": "constant.language.boolean.nest", "match": "\\\\b(?:true|false)\\\\b"},
    {"name": "support.function.operator.nest", "match": "$(json "\\b(?:$(or "$operators"))\\b(?=\\()")"},
    {"name": "support.function.builtin.nest", "match": "$(json "\\b(?:$(or "$builtins"))\\b(?=\\()")"},
    {"name": "support.type.nest", "match": "$(json "(?<=:)\\s*(?:$(or "$types"))\\b")"},
    {"name": "constant.language.nest", "match": "$(json "\\b(?:$(or "$symbols"))\\b")"},
    {"name": "variable.language.nest", "match": "$(json "\\b(?:$(or "$variables"))\\b")"},
    {"name": "variable.parameter.nest", "match": "\\\\b[A-Za-z_][A-Za-z0-9_]*(?=\\\\s*=[^=])"},
    {"name": "keyword.operator.nest", "match": "->|--|\\\\.\\\\.|==|!=|<=|>=|[-+*/%^<>=]"}
  ]
}
END
}

quoted() {
	printf '"%s"' "$(printf '%s' "$1" | sed 's/ /" "/g')"
}

write_emacs() {
	mkdir -p "$target/emacs"
	cat >"$target/emacs/nest-mode.el" <<END
;;; nest-mode.el --- Specs of the training of large models -*- lexical-binding: t -*-

;; Made by editors/generate.sh from the tables of nestc; not changed by hand.
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Colours and indents .nest files.  Put this directory on your load-path and
;; (require 'nest-mode) into your init file.

;;; Code:

(defconst nest-mode-font-lock
  (list
   (cons (regexp-opt '($(quoted "$reserved")) 'symbols) 'font-lock-keyword-face)
   (cons (concat (regexp-opt '($(quoted "$openers")) 'symbols) "[ \\t]+\\\\([a-z_]\\\\)") '(1 font-lock-keyword-face))
   (cons (concat (regexp-opt '($(quoted "$blocks")) 'symbols) "[ \\t]*{") '(1 font-lock-keyword-face))
   (cons (concat (regexp-opt '($(quoted "$operators $builtins")) 'symbols) "(") '(1 font-lock-function-name-face))
   (cons (regexp-opt '($(quoted "$symbols") "true" "false") 'symbols) 'font-lock-constant-face)
   (cons (regexp-opt '($(quoted "$variables")) 'symbols) 'font-lock-variable-name-face)
   (cons (concat ":[ \\t]*" (regexp-opt '($(quoted "$types")) 'symbols)) '(1 font-lock-type-face)))
  "What is coloured in a spec.")

(defvar nest-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?# "<" table)
    (modify-syntax-entry ?\\n ">" table)
    (modify-syntax-entry ?_ "_" table)
    table)
  "Comments, strings and names of a spec.")

(defun nest-mode-indent-line ()
  "Indent the line by two blanks for each bracket that is open before it."
  (let ((depth (save-excursion
                 (beginning-of-line)
                 (skip-chars-forward " \\t")
                 (- (car (syntax-ppss (line-beginning-position)))
                    (if (looking-at "[]})]") 1 0)))))
    (if (<= (current-column) (current-indentation))
        (indent-line-to (* 2 (max 0 depth)))
      (save-excursion (indent-line-to (* 2 (max 0 depth)))))))

;;;###autoload
(define-derived-mode nest-mode prog-mode "nest"
  "Major mode for specs of nestc."
  (setq-local font-lock-defaults '(nest-mode-font-lock))
  (setq-local comment-start "# ")
  (setq-local comment-start-skip "#+[ \\t]*")
  (setq-local indent-line-function #'nest-mode-indent-line)
  (setq-local indent-tabs-mode nil))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\\\.nest\\\\'" . nest-mode))

(provide 'nest-mode)
;;; nest-mode.el ends here
END
}

write_vim
write_textmate
write_emacs
