"""The metadata block: a few pixels that a program paints so that an agent knows how old a picture is.

It is two rows high and six pixels wide, RGB:

    ┌─────────┬─────────┬───────────────┬───────────────┐
    │ 12 34 56│ 78 90 AB│ clock, 2 pixels│ probe, 2 pixels│   row 0
    │ 23 45 67│ 89 0A BC│ not read       │ not read       │   row 1
    └─────────┴─────────┴───────────────┴───────────────┘

``clock`` is the remote's clock when the frame was drawn, ``probe`` its clock when the last action probe came in
(0: none yet); each is a 48-bit big-endian count of milliseconds since the UNIX epoch.
"""

from __future__ import annotations

from typing import Final, NamedTuple

WIDTH: Final = 6
HEIGHT: Final = 2
ANCHOR: Final = (bytes.fromhex("123456 7890ab"), bytes.fromhex("234567 890abc"))
MAX_MILLISECONDS: Final = 2**48 - 1


class Metadata(NamedTuple):
    """The contents of a metadata block: UNIX milliseconds of the remote's clock; ``probe`` 0 means none yet."""

    clock: int
    probe: int


def encode(metadata: Metadata) -> tuple[bytes, bytes]:
    """Return the block's two rows as RGB bytes, 18 each. Row 1 right of the anchor is black."""
    for time in (metadata.clock, metadata.probe):
        if not 0 <= time <= MAX_MILLISECONDS:
            raise ValueError(f"{time} ms does not fit 48 unsigned bits")
    row0 = ANCHOR[0] + metadata.clock.to_bytes(6, "big") + metadata.probe.to_bytes(6, "big")
    return row0, ANCHOR[1] + bytes(12)


def decode(row0: bytes, row1: bytes) -> Metadata | None:
    """Return the contents of two rows of RGB bytes that begin with the anchor; None if they don't."""
    if len(row0) < WIDTH * 3 or row0[:6] != ANCHOR[0] or row1[:6] != ANCHOR[1]:
        return None
    return Metadata(clock=int.from_bytes(row0[6:12], "big"), probe=int.from_bytes(row0[12:18], "big"))
