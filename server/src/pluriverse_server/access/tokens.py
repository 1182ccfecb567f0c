"""Tokens: secrets with a name and a role, and what a role may do. Pure.

A list of them has a line for each, ``ROLE NAME TOKEN``; empty lines and those that begin with ``#`` count for nothing.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from pluriverse_protocol.rfb.security import PASSWORD_BYTES

# Each guess is compared with all of them, on the VNC port by computing what each would have answered.
MAX_TOKENS: Final = 64

MAX_TOKEN_CHARS: Final = 128

# A secret as long as this isn't guessed over a network, however many guesses a second are compared.
LONG_CHARS: Final = 16
MAX_NAME_CHARS: Final = 64


class Right(enum.Flag):
    NOTHING = 0
    WATCH = enum.auto()  # see the screen, and hear the rewards
    PLAY = enum.auto()  # be the agent; press what the environment's spaces name
    CONTROL = enum.auto()  # press anything, in the viewer
    OPERATE = enum.auto()  # metrics, leases, restart, drain


class Role(enum.StrEnum):
    AGENT = "agent"
    OBSERVER = "observer"
    PERSON = "person"
    OPERATOR = "operator"
    ALL = "all"  # the remote's password
    ENDED = "ended"  # of a lease that has ended: reported as such, and not taken for a guess


RIGHTS: Final = {
    Role.AGENT: Right.WATCH | Right.PLAY,
    Role.OBSERVER: Right.WATCH,
    # Playing in lockstep in the viewer needs the agent's seat.
    Role.PERSON: Right.WATCH | Right.PLAY | Right.CONTROL,
    Role.OPERATOR: Right.WATCH | Right.OPERATE,
    Role.ALL: Right.WATCH | Right.PLAY | Right.CONTROL | Right.OPERATE,
    Role.ENDED: Right.NOTHING,
}

# Those that a list may give.
LISTED: Final = (Role.AGENT, Role.OBSERVER, Role.PERSON, Role.OPERATOR)


class Denied(Exception):
    """A client lacks permission; ``known``: whether its password or token is valid at all."""

    def __init__(self, reason: str, *, known: bool) -> None:
        super().__init__(reason)
        self.known = known


class TokensError(ValueError):
    """A list of tokens is invalid; the message has the place and the reason, without any of its secrets."""


@dataclass(frozen=True, slots=True)
class Token:
    role: Role
    name: str
    secret: str = field(repr=False)

    @property
    def is_long(self) -> bool:
        """Whether it is too long to be guessed, so that its owner never waits because of others' guesses."""
        return len(self.secret) >= LONG_CHARS

    def __str__(self) -> str:
        return f"{self.role} {self.name}"


def parse_tokens(text: str, password: str | None = None) -> tuple[Token, ...]:
    """Return the tokens of a list, which has to differ from the remote's password."""
    tokens: list[Token] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                tokens.append(_parse_line(line))
            except TokensError as error:
                raise TokensError(f"line {number}: {error}") from None
    if len(tokens) > MAX_TOKENS:
        raise TokensError(f"{len(tokens)} tokens; expected at most {MAX_TOKENS}")
    _require_different([*tokens, *password_token(password)])
    return tuple(tokens)


def password_token(password: str | None) -> tuple[Token, ...]:
    return () if password is None else (Token(Role.ALL, "password", password),)


def _require_different(tokens: Sequence[Token]) -> None:
    """Check that all of them are distinct, on the VNC port too."""
    names: dict[str, Token] = {}
    beginnings: dict[str, Token] = {}
    for token in tokens:
        if names.setdefault(token.name, token) is not token:
            raise TokensError(f"the name {token.name!r} is given twice")
        other = beginnings.setdefault(token.secret[:PASSWORD_BYTES], token)
        if other is not token:
            raise TokensError(
                f"the tokens of {other} and {token} begin with the same {PASSWORD_BYTES} characters, and VNC looks at "
                "no more; make others"
            )


def _parse_line(line: str) -> Token:
    words = line.split()
    if len(words) != 3:
        raise TokensError(f"it has {len(words)} words; expected three: ROLE NAME TOKEN")
    role, name, secret = words
    if role not in LISTED:
        # It isn't quoted, for it may be the token.
        raise TokensError(f"the role is missing; expected one of {', '.join(LISTED)}")
    if len(name) > MAX_NAME_CHARS or not name.isprintable():
        raise TokensError(f"the name must have at most {MAX_NAME_CHARS} printable characters")
    if not PASSWORD_BYTES <= len(secret) <= MAX_TOKEN_CHARS:
        raise TokensError(f"the token has {len(secret)} characters; expected {PASSWORD_BYTES} to {MAX_TOKEN_CHARS}")
    if not secret.isascii() or not secret.isprintable() or ":" in secret:
        raise TokensError("the token must be printable ASCII without a colon")
    return Token(Role(role), name, secret)
