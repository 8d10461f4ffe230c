" SPDX-License-Identifier: MIT
autocmd BufNewFile,BufRead *.nest setfiletype nest
