" Settings of .heddle files: comments, layout, and :make, which runs `heddle check`.
if exists("b:did_ftplugin")
  finish
endif
let b:did_ftplugin = 1

setlocal commentstring=//\ %s comments=:///,:// formatoptions+=ro
setlocal expandtab shiftwidth=4 softtabstop=4
compiler heddle
let b:undo_ftplugin = "setlocal commentstring< comments< formatoptions< expandtab< shiftwidth< softtabstop<"
