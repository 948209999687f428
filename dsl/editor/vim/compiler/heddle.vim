" :make checks the description, and its mistakes are in the quickfix list.
if exists("current_compiler")
  finish
endif
let current_compiler = "heddle"

CompilerSet makeprg=heddle\ check\ %:S
CompilerSet errorformat=%f:%l:%c:\ %trror:\ %m,%f:%l:%c:\ %tarning:\ %m,%f:%l:%c:\ %tote:\ %m,%-G%.%#
