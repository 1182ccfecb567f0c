"""The interface of a game to the program."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from pluriverse_server.kit import Kept, Outcome

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Environment(ABC):
    """A game that is stepped with the keys held, or, where it is turn-based, with the one key that was pressed.

    ``turn_keys``: the keysyms whose press is a step; None where time goes on.
    """

    turn_keys: frozenset[int] | None = None

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture in pixels; known once it has been reset."""
        height, width = self.frame().shape[:2]
        return width, height

    @abstractmethod
    def reset(self, seed: int) -> None:
        """Begin an episode."""

    @abstractmethod
    def step(self, keys: frozenset[int]) -> Outcome:
        """One step of the environment; not to be called after the last."""

    def skip(self, keys: frozenset[int]) -> Outcome:
        """One step whose frame is looked at only if it is the last."""
        return self.step(keys)

    @abstractmethod
    def frame(self) -> NDArray[np.uint8]:
        """Return the current frame, (height, width) or (height, width, channels), valid until the next step.

        Rows with the same bytes look the same.
        """

    @abstractmethod
    def draw(self, picture: NDArray[np.uint8], top: int, bottom: int) -> None:
        """Write the rows from ``top`` to ``bottom``, excluded, of the last frame into those of ``picture``.

        ``picture`` is uint8 of shape (height, width, 4), BGRX.
        """

    @abstractmethod
    def rgb(self) -> NDArray[np.uint8]:
        """Return the current frame as people see it, uint8 (height, width, 3), RGB; valid until the next step."""

    def observation(self) -> list[float] | None:
        return None

    @property
    def lives(self) -> int | None:
        """How many lives are left, 0 in Atari games without; None where that isn't known."""
        return None

    def text(self) -> str:
        """Return the text of the episode, such as its mission; may be empty."""
        return ""

    @abstractmethod
    def save(self) -> Kept | None:
        """Return what ``load`` needs to go back to this step; None if the game can't."""

    @abstractmethod
    def load(self, kept: Kept) -> None:
        """Go back to a step that was saved. The frame is there again with the next step.

        Raises:
            ValueError: it was saved of another game.
        """

    def close(self) -> None:  # noqa: B027 - emulators stay loaded
        """Free its resources."""
