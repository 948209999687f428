" Highlighting for heddle platform descriptions.
if exists("b:current_syntax")
  finish
endif

syntax keyword heddleDeclaration component platform protocol interface link part enum request reply
syntax keyword heddleMember param let slot insert clock space store reads stat measure in out
syntax keyword heddleStatement import check map partition behaviour if else for
syntax keyword heddleConnection via over by latency depth width on at each interleave hashed optional
syntax keyword heddleType int bool bytes cycles addr bits any counter histogram string seconds u8 u16 u32 u64 i32 i64 pow2
syntax keyword heddleConstant true false none
syntax match heddleNumber /\<0x\x[0-9A-Fa-f_]*\>/
syntax match heddleNumber /\<\d[0-9_]*\(\.\d\+\)\?\([KMGT]i\?B\|B\|cy\|[kMG]\?Hz\|[munp]\?s\)\?\(\/\(s\|cy\)\)\?\>/
syntax match heddleArrow /->/
syntax region heddleString start=/"/ skip=/\\./ end=/"/
syntax match heddleComment /\/\/.*$/
syntax match heddleDoc /\/\/\/.*$/
syntax region heddleComment start=/\/\*/ end=/\*\//

highlight default link heddleDeclaration Structure
highlight default link heddleMember StorageClass
highlight default link heddleStatement Statement
highlight default link heddleConnection Keyword
highlight default link heddleType Type
highlight default link heddleConstant Constant
highlight default link heddleNumber Number
highlight default link heddleArrow Operator
highlight default link heddleString String
highlight default link heddleComment Comment
highlight default link heddleDoc SpecialComment

let b:current_syntax = "heddle"
