"""Events of a server's stream beside the pixels."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UpdateFinished:
    """A framebuffer update is complete.

    ``rectangles`` and ``pixels`` count its pictures; a pseudo-rectangle (a cursor, a size) doesn't count.
    """

    rectangles: int
    pixels: int


@dataclass(frozen=True, slots=True)
class Resized:
    """The desktop has another size, in pixels."""

    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Bell:
    """The server rang."""


@dataclass(frozen=True, slots=True)
class ClipboardText:
    """Text was copied on the server's side."""

    text: str


@dataclass(frozen=True, slots=True)
class Fence:
    """The server set a fence. With ``FenceFlag.REQUEST`` among ``flags`` it waits for the payload to come back."""

    flags: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class EndOfContinuousUpdates:
    """The first one announces continuous updates, any later one that they were turned off."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """The pointer's picture, in the pixel format that was asked for; ``mask`` has a bit for each pixel, rows padded.

    (``hotspot_x``, ``hotspot_y``) is the pixel of the picture that points.
    """

    hotspot_x: int
    hotspot_y: int
    width: int
    height: int
    pixels: bytes
    mask: bytes


Event = UpdateFinished | Resized | Bell | ClipboardText | Fence | EndOfContinuousUpdates | Cursor
