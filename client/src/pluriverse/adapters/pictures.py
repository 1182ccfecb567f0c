"""A remote's screen as the picture that an agent asked for: the environment's part of it, smaller, grey."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pluriverse import validation
from pluriverse.errors import ConfigurationError
from pluriverse.rfb import Region
from pluriverse.rfb.decoder import make_picture
from pluriverse.rfb.picture import PictureSpec, Pixels
from pluriverse.vnc import VncOptions

__all__ = ["PictureOptions", "Pictures", "Pixels"]


@dataclass(frozen=True, slots=True)
class PictureOptions:
    """The picture to make of a screen.

    ``crop`` is (x, y, width, height) in pixels of the screen; None: the environment's part, as the remote describes it.
    ``size`` is (height, width) to resize to, None: as it is. ``grey``: one channel, the luma of ITU-R BT.601.
    """

    crop: tuple[int, int, int, int] | None = None
    size: tuple[int, int] | None = None
    grey: bool = False

    def __post_init__(self) -> None:
        if self.crop is not None:
            crop = validation.integers("crop", self.crop, ("x", "y", "width", "height"), 0, validation.MAX_SIDE)
            if min(crop[2:]) < 1:
                validation.refuse("crop", crop, "a width and a height of at least 1 pixel")
            object.__setattr__(self, "crop", crop)
        object.__setattr__(self, "size", validation.picture_size(self.size))
        object.__setattr__(self, "grey", validation.flag("grey", self.grey))

    def require_within(self, width: int, height: int) -> None:
        """Raise ConfigurationError if ``crop`` lies beyond a screen of this size."""
        if self.crop is not None:
            x, y, across, down = self.crop
            if x + across > width or y + down > height:
                raise ConfigurationError(f"crop is {self.crop}; the screen is {width} by {height} pixels")


class Pictures:
    """The pictures of one environment; ``shape`` is theirs: (height, width, channels), uint8.

    ``ready``: the VNC driver or a step channel sends them as asked for, and ``make`` returns them as they are.
    """

    def __init__(
        self,
        options: PictureOptions,
        box: tuple[int, int, int, int],
        *,
        ready: bool = False,
        origin: tuple[int, int] = (0, 0),
    ) -> None:
        """``box``: x, y, width and height of what the environment draws on; ``origin``: where what is cut begins."""
        self.ready: bool = ready
        self.box: tuple[int, int, int, int] = options.crop or box
        self.options: PictureOptions = options
        x, y, width, height = self.box
        crop = Region(x - origin[0], y - origin[1], width, height)
        self._spec = PictureSpec(crop, options.size, grey=options.grey)
        self.shape: tuple[int, int, int] = (*(options.size or (height, width)), 1 if options.grey else 3)

    def asked_of(self, vnc: VncOptions) -> VncOptions:
        # Copies could be of what was never decoded.
        encodings = [name for name in vnc.encodings if name != "copyrect"]
        size, grey = self.options.size, self.options.grey
        return replace(vnc, encodings=encodings, crop=Region(*self.box), size=size, grey=grey)

    def make(self, screen: Pixels) -> Pixels:
        """The picture of a whole screen, RGB of shape (height, width, 3); a copy, or a view of what stays as it is.

        Of a screen that is smaller than the environment said, the rest is black.
        """
        if self.ready:
            return screen
        return make_picture(screen, self._spec)
