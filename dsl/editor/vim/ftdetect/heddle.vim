autocmd BufNewFile,BufRead *.heddle setfiletype heddle
