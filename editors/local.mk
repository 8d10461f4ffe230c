# SPDX-License-Identifier: MIT

bashcompletiondir = $(datadir)/bash-completion/completions
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = %D%/completion/_nestc

vimsyntaxdir = $(pkgdatadir)/editors/vim/syntax
dist_vimsyntax_DATA = %D%/vim/syntax/nest.vim
vimftdetectdir = $(pkgdatadir)/editors/vim/ftdetect
dist_vimftdetect_DATA = %D%/vim/ftdetect/nest.vim
vimftplugindir = $(pkgdatadir)/editors/vim/ftplugin
dist_vimftplugin_DATA = %D%/vim/ftplugin/nest.vim
vimindentdir = $(pkgdatadir)/editors/vim/indent
dist_vimindent_DATA = %D%/vim/indent/nest.vim
vscodedir = $(pkgdatadir)/editors/vscode
dist_vscode_DATA = %D%/vscode/package.json %D%/vscode/language-configuration.json
vscodesyntaxesdir = $(pkgdatadir)/editors/vscode/syntaxes
dist_vscodesyntaxes_DATA = %D%/vscode/syntaxes/nest.tmLanguage.json
emacsmodedir = $(pkgdatadir)/editors/emacs
dist_emacsmode_DATA = %D%/emacs/nest-mode.el

EXTRA_DIST += %D%/README.md %D%/generate.sh %D%/completion/nestc.bash \
	%D%/vim/nest.vim.in %D%/vscode/nest.tmLanguage.json.in %D%/emacs/nest-mode.el.in

# bash looks for the name of the command.
install-data-hook: install-bash-completion
.PHONY: install-bash-completion
install-bash-completion:
	$(MKDIR_P) '$(DESTDIR)$(bashcompletiondir)'
	$(INSTALL_DATA) '$(srcdir)/%D%/completion/nestc.bash' '$(DESTDIR)$(bashcompletiondir)/nestc'
uninstall-hook: uninstall-bash-completion
.PHONY: uninstall-bash-completion
uninstall-bash-completion:
	rm -f '$(DESTDIR)$(bashcompletiondir)/nestc'
