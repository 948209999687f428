"""`heddle whatif`: what would the result be if a parameter were another one?

sensitivity  what a run may depend on, other values for it, and what chance changes
whatif       the command
uncertainty  its option --uncertainty: the interval of a result by what is not known
"""
