"""`heddle sweep`: runs of all combinations of what is varied, in a folder with a database.

values         lists, ranges and units of what is varied
constraint     which combinations there are
plan           platforms, programs and values: the points
database       the folder: what is known of each point
intact         whether a database is what this program wrote
worker         runs a batch of points; a process of its own
pool           starts workers, so many at a time
sweep          the command
results        any setting and any result of each point, by name
sweep_figures  a result over a setting, and Pareto fronts, as files or in the page
sweep_page     the page of `heddle report` about a sweep; sweep.js draws results over settings
"""
