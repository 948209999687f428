"""What of heddle is Python: many runs of the simulator, and what their results say together.

The command `heddle` starts it; see heddle.__main__. Modules, from the bottom up:

mistakes     errors that are a user's
points       runs with their settings, states and results, in a folder with a database
runner       runs points on several processes
description  the file that says what has been measured and how it is simulated
compare      errors and rank correlation
chart        plots as SVG
fit          parameters within intervals
calibrate    the command that uses them all
report       a page about a run, with modules of its own
"""
