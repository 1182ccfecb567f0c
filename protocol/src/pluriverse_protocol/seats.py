"""How an agent whose line broke comes back to its seat: the headers of the WebSocket's upgrade that it takes. Pure.

An agent names itself by a random token in ``TOKEN``. One that comes back adds ``LAST_NUMBER``, the number of the last
message that it has. The server answers in ``SEAT`` whether the messages go on from there (``RESUMED``), or it
knows nothing of that agent any more (``NEW``); a server without this header keeps no seats. One that says ``TAKE_OVER``
takes the seat of another agent, if it may.
"""

from __future__ import annotations

from typing import Final

from .limits import MAX_TOKEN_CHARS

TOKEN: Final = "pluriverse-agent"  # noqa: S105 - the header's name
LAST_NUMBER: Final = "pluriverse-last-number"
SEAT: Final = "pluriverse-seat"
TAKE_OVER: Final = "pluriverse-take-over"

RESUMED: Final = "resumed"
NEW: Final = "new"

_MAX_NUMBER_CHARS: Final = 18


def parse_token(header: str | None) -> str | None:
    """Return the token that an agent sent; None without one, or if it is too long."""
    return header if header and len(header) <= MAX_TOKEN_CHARS else None


def parse_last_number(header: str | None) -> int | None:
    """Return the number of the last message that an agent has; None if it doesn't come back, or sent no number."""
    if header is None or len(header) > _MAX_NUMBER_CHARS or not (header.isascii() and header.isdigit()):
        return None
    return int(header)
