"""What Atari wrappers ask of an environment beside Gymnasium's interface: the part of ale-py's that a screen shows."""

from __future__ import annotations

import numpy as np
from pluriverse_protocol.atari import ACTIONS

from pluriverse.adapters.actions import ActionMap
from pluriverse.adapters.core import Core
from pluriverse.adapters.pictures import Pixels
from pluriverse.rfb.picture import luma_of


class Ale:
    """The emulator with the interface of ale-py's wrappers, as far as the last step allows.

    Screens are the agent's pictures, with its ``size``, ``crop`` and ``grey``.
    """

    def __init__(self, core: Core) -> None:
        """``core`` has one environment."""
        self._core = core

    def lives(self) -> int:
        """Return how many lives are left; 0 in games without."""
        return int(self._core.result(0).lives or 0)

    def getScreenDims(self) -> tuple[int, int]:  # noqa: N802 - ale-py's name
        """Return the height and width of the screen."""
        return self._core.pictures.shape[:2]

    def getScreenRGB(self, array: Pixels | None = None) -> Pixels | None:  # noqa: N802 - ale-py's name
        """Return the screen, uint8 (height, width, channels), or put it into an array."""
        return _filled(self._core.picture(0), array)

    def getScreenGrayscale(self, array: Pixels | None = None) -> Pixels | None:  # noqa: N802 - ale-py's name
        """Return the screen in grey, uint8 (height, width), or put it into an array."""
        picture = self._core.picture(0)
        return _filled((picture if picture.shape[2] == 1 else luma_of(picture))[:, :, 0], array)


def is_atari(actions: ActionMap) -> bool:
    """Return whether the choices of an environment are ale-py's actions."""
    names = {choice.name for choice in actions.choices}
    return ACTIONS[0] in names <= set(ACTIONS)


def frameskip_of(env_id: str, frame_skip: int) -> int | None:
    """Return how many of a game's frames a step takes; None if the environment skips frames by itself."""
    return frame_skip if "NoFrameskip" in env_id else None


def _filled(picture: Pixels, array: Pixels | None) -> Pixels | None:
    if array is None:
        return np.array(picture)
    array[...] = picture
    return None
