"""A lease: the right to play alone, for as long as it is renewed. Pure: the clock is passed in, in seconds."""

from __future__ import annotations

import secrets
import string
from dataclasses import dataclass, field
from typing import Final

from .tokens import Role, Token

# Renewals come three times within it. Below this a busy machine or network would end leases of trainers that are well;
# above it waiting for a dead trainer's remote takes too long.
MIN_TTL_S: Final = 5.0
MAX_TTL_S: Final = 600.0

_ID_BYTES: Final = 8

# VNC looks at its first 8; the other ports at all.
_SECRET_CHARS: Final = 24
_ALPHABET: Final = string.ascii_letters + string.digits


@dataclass(slots=True)
class Lease:
    by: Token
    ttl_s: float
    until: float
    id: str = field(default_factory=lambda: secrets.token_hex(_ID_BYTES))
    token: Token = field(init=False)

    def __post_init__(self) -> None:
        secret = "".join(secrets.choice(_ALPHABET) for _ in range(_SECRET_CHARS))
        self.token = Token(Role.AGENT, f"lease {self.id}", secret)

    def renew(self, now: float) -> None:
        self.until = now + self.ttl_s

    def left_s(self, now: float) -> float:
        return max(0.0, self.until - now)


def parse_ttl(value: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and MIN_TTL_S <= value <= MAX_TTL_S:
        return float(value)
    raise ValueError(f"ttl_s is {value!r:.40}; expected {MIN_TTL_S:g} to {MAX_TTL_S:g} seconds")
