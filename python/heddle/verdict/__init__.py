"""What limits a kernel or a run, and how far that can be trusted.

noise_floor    by how much runs differ that are equally right
fullness       which element was full in each interval; the unloaded latency of memory
account        what the time of a kernel went to: a share for each cause
kernel_facts   a kernel with what is known of it, which the next two judge by
memory_limits  what a kernel that waits for memory waits for
limits         what limits a kernel or a run, as data and in words
trust          how many instructions are approximate, and what the parameters rest on
"""
