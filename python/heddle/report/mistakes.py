"""Errors that are a user's: what is wrong, where, and how to mend it."""


class Mistake(Exception):
    """Ends the command with status 1 and this message."""
