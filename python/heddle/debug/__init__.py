"""`heddle debug`: a program under a debugger that speaks gdb's remote protocol, forwards and
backwards.

process    a program that runs to where it is told, and answers about its wavefronts
registers  a wavefront's registers as gdb sees them
ptx        PTX as gdb reads it
symbols    code objects as gdb reads them
session    a program that can be moved forwards and backwards
monitor    what gdb's `monitor` says
gdb        the remote protocol
debug      the command
"""
