"""Errors that are a user's: what is wrong, where, and how to mend it."""


class Mistake(Exception):
    """Ends the command with status 1 and this message; `usage` makes it status 2."""

    def __init__(self, message: str, usage: bool = False):
        super().__init__(message)
        self.usage = usage
