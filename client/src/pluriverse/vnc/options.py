"""What to ask of a VNC server, and what to make of its screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from pluriverse.rfb import Region, preferred_encodings

Implementation = Literal["native", "python"]

# Frames of less than a dozen pixels are of no use, and a mean over more doesn't fit the sums of the native driver.
MAX_SCALE: Final = 64


@dataclass(frozen=True, slots=True)
class TlsOptions:
    """TLS, for servers that offer VeNCrypt. It is used where the server wants it, or always if it is ``required``.

    ``check`` refuses a server whose certificate isn't signed by one of ``ca_file`` (None: the system's) for the name
    it was connected to. Servers without a certificate are refused if TLS is both required and checked.
    """

    required: bool = False
    check: bool = True
    ca_file: Path | None = None


@dataclass(frozen=True, slots=True)
class VncOptions:
    """How one connection is used. See ``rfb.preferred_encodings`` for the first five.

    ``regions``: only these rectangles of the screen are kept up to date; frames keep the size of the screen, and what
    lies outside may be old or black. ``scale``: each pixel of a frame is the mean of scale x scale of the screen's, and
    what is left over at the right and at the bottom is cut off. ``grey``: one channel, the luma of ITU-R BT.601.
    ``continuous``: updates come without being asked for, one by one, where the server can. ``silence_s``: a server
    that owes an answer for so long is given up. ``implementation``: None takes the native one where it was built.

    Raises:
        ValueError: a value is out of range; says which.
    """

    encodings: Sequence[str] = ("tight", "zrle", "hextile", "raw")
    quality: int | None = 8
    fine_quality: int | None = None
    subsampling: str | None = None
    compress_level: int | None = 1
    regions: Sequence[Region] | None = None
    scale: int = 1
    grey: bool = False
    continuous: bool = True
    silence_s: float = 10.0
    tls: TlsOptions = field(default_factory=TlsOptions)
    implementation: Implementation | None = None

    def __post_init__(self) -> None:
        self.encoding_numbers()
        if not 1 <= self.scale <= MAX_SCALE:
            raise ValueError(f"scale is {self.scale}, expected 1 to {MAX_SCALE}")
        if self.silence_s <= 0:
            raise ValueError(f"silence_s is {self.silence_s}, expected more than 0 seconds")
        for region in self.regions or ():
            if min(region[:2]) < 0 or min(region[2:]) < 1:
                raise ValueError(f"{region} lies on no screen: x and y are from 0, width and height from 1 pixel")
        if self.regions and "copyrect" in self.encodings:
            raise ValueError("copyrect could copy old pixels into a region: leave it out where regions are given")

    def encoding_numbers(self) -> list[int]:
        """What goes into SetEncodings."""
        return preferred_encodings(
            quality=self.quality,
            fine_quality=self.fine_quality,
            subsampling=self.subsampling,
            compress_level=self.compress_level,
            encodings=self.encodings,
        )
