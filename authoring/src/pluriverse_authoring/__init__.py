"""The commands with which authors make and test runtimes; one module for each verb."""


class AuthoringError(Exception):
    """A command failed; the message gives the reason and a remedy."""
