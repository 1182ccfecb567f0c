"""Errors of the agent's end.

PluriverseError
├── ConfigurationError     what was asked for can't be: an address, an option, an environment, a missing program
├── ActionError            an action that stands for no event; names the index and the event
├── ResetNeeded            step() before the first reset()
├── Misuse                 a call that the interface's rules don't allow now; says the rule
├── Closed                 the environment has been closed
└── RemoteError            one remote
    ├── RemoteUnavailable  it could not be started or reached
    └── RemoteFailed       it was up, and then broke: what ``info["n"][i]["error"]`` tells
"""

from __future__ import annotations


class PluriverseError(Exception):
    """Root of the errors of environments, remotes and rewarder connections."""


class ConfigurationError(PluriverseError):
    """What was asked for can't be; the message says what was expected, and what mends it."""


class ActionError(PluriverseError):
    """An action isn't one; nothing was sent to any remote."""


class ResetNeeded(PluriverseError):
    """``step()`` was called before the first ``reset()``."""


class Misuse(PluriverseError):
    """A call that the interface's rules don't allow now; the message says the rule, and nothing was done."""


class Closed(PluriverseError):
    """The environment was closed, or never configured."""


class RemoteError(PluriverseError):
    """Root of what goes wrong with one remote."""


class RemoteUnavailable(RemoteError):
    """A remote could not be started or reached."""


class RemoteFailed(RemoteError):
    """A remote was up, and broke."""
