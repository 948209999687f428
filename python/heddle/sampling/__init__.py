"""Launches that stand for others, and launches with cold caches.

child_runs     one run after the other, for commands that compare several
sample         the table of `heddle run --kernels auto` and `--mode sampled`
correction     the formula for launches that were simulated with cold caches
cold_launches  launches simulated cold and warm: the factors of the formula
experiment     the command `heddle experiment`: ways to warm up beside the truth
"""
