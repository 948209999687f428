"""What all commands need.

mistakes      errors that are a user's
files         files that are whole or not there
toml          TOML files, with messages that name the place
command_line  the options of a command, and what a command prints
progress      how far many runs are
provenance    the words, date and place that made something
vocabulary    NVIDIA's words for what reports say in AMD's
"""
