"""What runs measured, and the command `heddle stats`.

statistics_file  statistics files
model            the platform of a run, elaborated again with its settings
measures         what components and connections measured, in a run or a kernel
series           measures over time
kernels          where the cycles of kernels went
profile          the table of `heddle run --profile instructions`: cycles by instruction
dram             memory controllers of a run, one line each
diagram_shares   the shares that colour the diagram of a run
differences      what differs between runs, results first
stats            the command
"""
