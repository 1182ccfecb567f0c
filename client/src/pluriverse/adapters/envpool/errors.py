"""Our errors, which are EnvPool's as well: where it raises a built-in one, ours can be caught as that."""

from __future__ import annotations

from pluriverse.errors import ActionError, ConfigurationError, Misuse


class WrongOption(ConfigurationError, AssertionError, TypeError, RuntimeError):
    """An option of ``make`` is wrong; which built-in error EnvPool raises depends on the option."""


class WrongCall(Misuse, ValueError):
    """The call isn't allowed now; nothing was done."""


class WrongAction(ActionError, RuntimeError):
    """An action is of the wrong type or shape; nothing was sent."""
