"""`heddle debug`: a program under a debugger that speaks gdb's remote protocol, forwards and
backwards."""
