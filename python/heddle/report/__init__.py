"""`heddle report`: a page about a run, or about two beside each other, and its figures alone.

runs      what the command `heddle` says of a statistics file, and the file itself
figures   cycles by kernel, heat map
flops     floating-point operations, counted from a profile
roofs     what vector ALUs can do at most, by the description
roofline  of instructions and of operations
tables    kernels, memory levels, hottest components, what differs
speed     shares of what resources could do; elements of arrays
timeline  what happened over time, element by element, as data
requests  the slowest requests of a trace, as data
page      the page
report    the command

Tables are HTML and figures are SVG, made whole here with every number in place, so they read
without a script, too; `page.js` only chooses what is shown and sorts. What has a value for each
element and interval is data, and is drawn into a canvas: timeline_draw.js draws, timeline.js moves
through it, interval.js tells of a stretch of it. No library of charts: it would bring half a
megabyte for axes and ticks.
"""
