"""Options of a connection: encodings to ask for, and the picture to make of the screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from pluriverse_protocol.rfb.limits import MAX_SIDE

from pluriverse.rfb import Region, preferred_encodings
from pluriverse.rfb.picture import PictureSpec

Implementation = Literal["native", "python"]

# Frames of less than a dozen pixels are of no use.
MAX_SCALE: Final = 64


@dataclass(frozen=True, slots=True)
class VncOptions:
    """How one connection is used. See ``rfb.preferred_encodings`` for the first five.

    ``regions``: only these rectangles of the screen are kept up to date; frames keep the size of the screen, and what
    lies outside may be old or black.

    What frames show: ``crop``, a part of the screen (None: all of it; black where it lies beyond the screen); ``size``,
    (height, width) in pixels that it is scaled to by area means, or instead ``scale``, of which each pixel is the mean
    of scale x scale and what is left over at the right and at the bottom is cut off; ``grey``, one channel, the luma of
    ITU-R BT.601. ``block``: a part of the screen whose pixels come beside the picture, in RGB and full size. With a
    ``crop`` the rest of the screen isn't asked for. ``subsampling="grey"`` halves what the server sends, but TigerVNC
    then sends all as JPEG: nothing is exact any more, and the metadata block can't be read.

    ``continuous``: updates come without being asked for, one by one, where the server can. ``silence_s``: a server
    that owes an answer, or the rest of an update, for so long is given up. ``implementation``: None takes the native
    one where it was built.
    """

    encodings: Sequence[str] = ("tight", "raw")
    quality: int | None = 8
    fine_quality: int | None = None
    subsampling: str | None = None
    compress_level: int | None = 1
    regions: Sequence[Region] | None = None
    crop: Region | None = None
    size: tuple[int, int] | None = None
    scale: int = 1
    grey: bool = False
    block: Region | None = None
    continuous: bool = True
    silence_s: float = 10.0
    implementation: Implementation | None = None

    def __post_init__(self) -> None:
        self.encoding_numbers()
        if not 1 <= self.scale <= MAX_SCALE:
            raise ValueError(f"scale is {self.scale}, expected 1 to {MAX_SCALE}")
        if self.silence_s <= 0:
            raise ValueError(f"silence_s is {self.silence_s}, expected more than 0 seconds")
        if self.size is not None and (self.scale != 1 or not 1 <= min(self.size) <= max(self.size) <= MAX_SIDE):
            raise ValueError(f"size is {self.size}, expected (height, width) of 1 to {MAX_SIDE} pixels, and no scale")
        for region in (*(self.regions or ()), self.crop, self.block):
            if region is not None and (min(region) < 0 or min(region[2:]) < 1 or max(region) > MAX_SIDE):
                raise ValueError(
                    f"{region} is no valid region: expected x and y from 0, width and height 1 to {MAX_SIDE} pixels"
                )
        if "copyrect" in self.encodings and (self.regions or self.crop or self.grey):
            raise ValueError("copyrect could copy old pixels or grey ones: leave it out with regions, crop and grey")

    @property
    def wanted_regions(self) -> Sequence[Region] | None:
        """The parts of the screen that are kept up to date; None: all of it."""
        if self.regions or self.crop is None:
            return self.regions
        return [self.crop] if self.block is None else [self.crop, self.block]

    @property
    def picture(self) -> PictureSpec:
        return PictureSpec(self.crop, self.size, self.scale, self.grey, self.block)

    def encoding_numbers(self) -> list[int]:
        return preferred_encodings(
            quality=self.quality,
            fine_quality=self.fine_quality,
            subsampling=self.subsampling,
            compress_level=self.compress_level,
            encodings=self.encodings,
        )
