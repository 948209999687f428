"""The counters of AMD's cards.

table     what heddle gives of them, by counters.tab
report    the report of a run's counters
profiler  what profilers of cards counted of each launch
card      `heddle calibrate --counters`: those of a card beside those of a run
"""
