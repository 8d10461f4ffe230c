" Vim filetype plugin
" SPDX-License-Identifier: MIT
"
" `:make` checks the file and fills the quickfix list; `gq` lays it out.

if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1

setlocal commentstring=#\ %s
setlocal comments=:##,:#
setlocal shiftwidth=2 softtabstop=2 expandtab
setlocal makeprg=nestc\ check\ %:S
setlocal errorformat=%f:%l:%c:\ %trror[E%n]:\ %m,%f:%l:%c:\ %tarning[E%n]:\ %m,%-G%.%#
setlocal formatprg=nestc\ fmt\ -

let b:undo_ftplugin = 'setlocal commentstring< comments< shiftwidth<'
      \ . ' softtabstop< expandtab< makeprg< errorformat< formatprg<'
