" Vim indent file
" SPDX-License-Identifier: MIT
"
" Two blanks for each bracket that is open; a line that closes one stands as the
" line that opened it.

if exists('b:did_indent')
  finish
endif
let b:did_indent = 1

setlocal indentexpr=NestIndent(v:lnum)
setlocal indentkeys=0{,0},0),0],!^F,o,O
let b:undo_indent = 'setlocal indentexpr< indentkeys<'

if exists('*NestIndent')
  finish
endif

" Brackets that a line opens less those it closes, comments and strings aside.
function s:Balance(text)
  let l:text = substitute(a:text, '"\%(\\.\|[^"\\]\)*"', '', 'g')
  let l:text = substitute(l:text, '#.*', '', '')
  let l:open = len(substitute(l:text, '[^{(\[]', '', 'g'))
  return l:open - len(substitute(l:text, '[^})\]]', '', 'g'))
endfunction

function NestIndent(line)
  let l:before = prevnonblank(a:line - 1)
  if l:before == 0
    return 0
  endif
  let l:text = getline(l:before)
  let l:balance = s:Balance(l:text)
  " What a line closes at its beginning has moved that line already.
  if l:text =~# '^\s*[})\]]'
    let l:balance += 1
  endif
  let l:indent = indent(l:before) + (l:balance > 0 ? 1 : l:balance) * shiftwidth()
  if getline(a:line) =~# '^\s*[})\]]'
    let l:indent -= shiftwidth()
  endif
  return l:indent < 0 ? 0 : l:indent
endfunction
