"""The interface of a game to the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from pluriverse_server.kit import Outcome

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Environment(Protocol):
    """A game that is stepped with the keys held, or, where it is turn-based, with the one key that was pressed."""

    @property
    def turn_keys(self) -> frozenset[int] | None:
        """The keysyms whose press is a step; None where time goes on."""
        ...

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture in pixels; known once it has been reset."""
        ...

    def reset(self, seed: int) -> None:
        """Begin an episode."""
        ...

    def step(self, keys: frozenset[int]) -> Outcome:
        """One step of the environment; not to be called after the last."""
        ...

    def frame(self) -> NDArray[np.uint8]:
        """Return the current frame, (height, width) or (height, width, channels), valid until the next step.

        Rows with the same bytes look the same.
        """
        ...

    def draw(self, picture: NDArray[np.uint8], top: int, bottom: int) -> None:
        """Write the rows from ``top`` to ``bottom``, excluded, of the last frame into those of ``picture``.

        ``picture`` is uint8 of shape (height, width, 4), BGRX.
        """
        ...

    def observation(self) -> list[float] | None:
        """The structured observation, where this environment reports one."""
        ...

    @property
    def lives(self) -> int:
        """How many lives are left; 0 in games without."""
        ...

    def text(self) -> str:
        """Return the text of the episode, such as its mission; may be empty."""
        ...

    def close(self) -> None:
        """Free its resources."""
        ...


def copy_rgb(rgb: NDArray[np.uint8], picture: NDArray[np.uint8]) -> None:
    """Write a frame of shape (height, width, 3), RGB, into a picture of shape (height, width, 4), BGRX."""
    # Three plain copies are five times as fast as one through a reversed index.
    picture[:, :, 0] = rgb[:, :, 2]
    picture[:, :, 1] = rgb[:, :, 1]
    picture[:, :, 2] = rgb[:, :, 0]
