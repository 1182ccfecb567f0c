"""The exceptions of the client, each also of the kind that Python's own code would raise.

PluriverseError
├── ConfigurationError     ValueError: a wrong option, address or environment, or something missing on this machine
├── ActionError            ValueError: an action is invalid; names the index and the event
├── ResetNeeded            RuntimeError: step() before the first reset()
├── Misuse                 RuntimeError: a call that isn't allowed now, with the reason
├── Closed                 RuntimeError: the environment is closed
└── RemoteError            RuntimeError: one remote
    ├── RemoteUnavailable  it could not be started or reached
    └── RemoteFailed       it broke later: also in ``info["n"][i]["error"]``
        └── RemoteMisbehaved   it sent what the protocol doesn't allow, and would again
"""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Mapping
from difflib import get_close_matches


class PluriverseError(Exception):
    """Root of the errors of environments, remotes and rewarder connections."""


class ConfigurationError(PluriverseError, ValueError):
    """An option is wrong, or something is missing; the message has what was expected and the fix."""


class UnknownOption(ConfigurationError, TypeError):
    """An option that there isn't. TorchRL, which tries some of its own, knows that by Python's type and words."""


class ActionError(PluriverseError, ValueError):
    """An action is invalid; nothing was sent to any remote."""


class ResetNeeded(PluriverseError, RuntimeError):
    """``step()`` was called before the first ``reset()``."""


class Misuse(PluriverseError, RuntimeError):
    """The call isn't allowed now; the message gives the reason, and nothing was done."""


class Closed(PluriverseError, RuntimeError):
    """The environment is closed, or was never configured."""


class RemoteError(PluriverseError, RuntimeError):
    """Root of the errors of one remote."""


class RemoteUnavailable(RemoteError):
    """A remote could not be started or reached."""


class RemoteFailed(RemoteError):
    """A remote broke after it was up."""


class RemoteMisbehaved(RemoteFailed):
    """A remote sent what the protocol doesn't allow; the message names both."""


def printable(text: str) -> str:
    """Return a remote's text with everything escaped that would move a terminal's cursor or change its colours."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def did_you_mean(wanted: str, known: Mapping[str, str | None]) -> str:
    """Return the end of a message about a name that isn't known: the nearest ones, or what they stand for."""
    near = [known[name] or name for name in get_close_matches(wanted, known)]
    return f" (did you mean {' or '.join(near)}?)" if near else ""


@contextlib.contextmanager
def needed(what: str, *, extra: str | None = None, package: str = "pluriverse") -> Generator[None]:
    """Import within this what ``what`` needs; a failure is a ConfigurationError that names what is missing.

    ``package``, with its ``extra`` if there is one, brings it.
    """
    try:
        yield
    except ImportError as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) and error.name else str(error)
        install = f"{package}[{extra}]" if extra else package
        raise ConfigurationError(f"{what} needs {missing}, which isn't installed: pip install '{install}'") from error
