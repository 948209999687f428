"""`heddle calibrate`: a table of measured times against a platform.

points        runs with their settings, states and results: a folder with a SQLite database
point_runner  runs points on several processes; limits of CPU time; survives kill -9
description   the TOML file that says what was measured and how it is simulated
results       what is kept of a run, and the number that is compared
compare       errors, rank correlation, folds of labels
variants      does the simulator choose the fastest form of a kernel?
plots         measured over simulated, for a column of a paper
fit           parameters within intervals, by scipy.optimize
calibrate     the command
"""
