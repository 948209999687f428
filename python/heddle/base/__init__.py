"""What all commands need.

mistakes      errors that are a user's
files         files that are whole or not there
toml          TOML files, with messages that name the place
command_line  the options of a command, and what a command prints
progress      how far many runs are
provenance    by which words, when and where something was made
vocabulary    NVIDIA's words for what reports say in AMD's
"""
