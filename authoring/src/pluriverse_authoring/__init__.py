"""The commands with which authors make and test runtimes; one module for each verb."""


class AuthoringError(Exception):
    """A command can't do what it was asked; the message gives the reason and a remedy."""
