"""`heddle report`: a page about a run, or about two beside each other, and its figures alone.

runs     what the command `heddle` says of a statistics file, and the file itself
draw     shapes and texts of figures
figures  cycles by kernel, roofline, heat map
tables   kernels, memory levels, hottest components, what differs
series   what happened over time: lines and heat maps
page     the page

The page is made whole here: figures are SVG and tables are HTML, with every number in place, so it
reads without a script, too. `page.js` only chooses what is shown and sorts. No library of charts:
the topology must be Graphviz' and the rest are bars and dots, so one would bring half a megabyte
for axes and ticks, and could not make the files of --plot without a browser.
"""
