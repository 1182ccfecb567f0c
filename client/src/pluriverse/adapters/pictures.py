"""A remote's screen as the picture that an agent asked for: the environment's part of it, smaller, grey."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pluriverse.errors import ConfigurationError

Pixels = NDArray[np.uint8]

# Nobody's policy looks at more; it is a slip, such as of pixels for a factor.
MAX_SIDE: Final = 16384


@dataclass(frozen=True, slots=True)
class PictureOptions:
    """What to make of a screen.

    ``crop`` is (x, y, width, height) in pixels of the screen; None: what the environment draws on, as the remote says.
    ``size`` is (height, width) to resize to, None: as it is. ``grey``: one channel, the luma of ITU-R BT.601.

    Raises:
        ConfigurationError: a number is out of range; says which.
    """

    crop: tuple[int, int, int, int] | None = None
    size: tuple[int, int] | None = None
    grey: bool = False

    def __post_init__(self) -> None:
        if self.crop is not None and (min(self.crop[:2]) < 0 or min(self.crop[2:]) < 1 or max(self.crop) > MAX_SIDE):
            raise ConfigurationError(f"crop is {self.crop}; expected (x, y, width, height) in pixels of the screen")
        if self.size is not None and not (1 <= min(self.size) <= max(self.size) <= MAX_SIDE):
            raise ConfigurationError(f"size is {self.size}; expected (height, width) in pixels")


class Pictures:
    """Makes the pictures of one environment; ``shape`` is theirs: (height, width, channels), uint8."""

    def __init__(self, options: PictureOptions, box: tuple[int, int, int, int]) -> None:
        """``box``: x, y, width and height of what the environment draws on.

        Raises:
            ConfigurationError: pictures are to be resized or grey, and OpenCV isn't installed.
        """
        self.box: tuple[int, int, int, int] = options.crop or box
        _, _, width, height = self.box
        self._grey = options.grey
        self._size = options.size if options.size != (height, width) else None
        self.shape: tuple[int, int, int] = (*(self._size or (height, width)), 1 if self._grey else 3)
        self._cv2: Any = _opencv() if self._size is not None or self._grey else None

    def make(self, screen: Pixels) -> Pixels:
        """The picture of a whole screen, RGB of shape (height, width, 3); a copy, or a view of what stays as it is.

        Of a screen that is smaller than the environment said, the rest is black.
        """
        x, y, width, height = self.box
        picture = screen[y : y + height, x : x + width]
        if picture.shape[:2] != (height, width):
            whole = np.zeros((height, width, 3), np.uint8)
            whole[: picture.shape[0], : picture.shape[1]] = picture
            picture = whole
        if self._grey:
            picture = self._cv2.cvtColor(picture, self._cv2.COLOR_RGB2GRAY)
        if self._size is not None:
            picture = self._cv2.resize(picture, self._size[::-1], interpolation=self._cv2.INTER_AREA)
        return picture.reshape(self.shape)


def _opencv() -> Any:
    try:
        cv2 = importlib.import_module("cv2")
    except ImportError as error:
        raise ConfigurationError(
            f"smaller and grey pictures are made with OpenCV, which isn't there ({error}); "
            "install it with: pip install opencv-python-headless"
        ) from error
    # One small picture isn't worth waking other threads for, and the remotes' decoders need those.
    cv2.setNumThreads(1)
    return cv2
