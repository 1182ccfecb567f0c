"""Atari, straight from ale-py."""

from __future__ import annotations

import random
from collections import deque
from itertools import repeat
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray
from pluriverse_server.kit import Kept, Outcome

from .catalogue import Atari
from .controls import joystick
from .emulators import MAX_FRAMES, Emulators
from .environment import Environment
from .sticky import LUCK, taken, with_luck

# With sticky actions of 0.25, one of 10**19 times none of so many was taken.
ASKED: Final = 32

LEAST_FRAMESKIP: Final = 2
FRAMESKIPS: Final = 3

# ale-py's colours are those of one byte; a colour that was drawn once is kept as four bytes, of which the last is this.
COLOURS: Final = 256
KNOWN: Final = 255


class Frameskips:
    """Yield the frames of each step: always ``fixed``, or else 2, 3 or 4 by ``random.Random(seed).random()``."""

    def __init__(self, fixed: int | None, seed: int) -> None:
        self._fixed = fixed
        # random() is the one method whose sequence Python promises to keep between its versions.
        self._random = random.Random(seed)  # noqa: S311

    def next(self) -> int:
        return self._fixed or LEAST_FRAMESKIP + int(self._random.random() * FRAMESKIPS)

    def save(self) -> object:
        return None if self._fixed else self._random.getstate()

    def load(self, saved: Any) -> None:
        if saved is not None:
            self._random.setstate(saved)


class Palette:
    """The colours of a game. ale-py has no call for them, so each is learnt from the first frame that has it."""

    def __init__(self) -> None:
        # All bytes of a colour that wasn't learnt are 0, and so is its word; no other colour's is.
        self._bgrx = np.zeros((COLOURS, 4), np.uint8)
        self._words = self._bgrx.view(np.uint32)[:, 0]
        # The last screen that was looked at, all of whose colours are known.
        self._known = np.zeros(0, np.uint64)

    def draw(self, screen: NDArray[np.uint8], picture: NDArray[np.uint8]) -> bool:
        """Write a screen of shape (height, width) into a picture of shape (height, width, 4); False: learn, and redraw.

        This takes less than half the time that it takes to have RGB of ale-py and turn it into BGRX.
        """
        words = self._words[screen]
        picture.view(np.uint32)[:, :, 0] = words
        return bool(words.min())

    def knows(self, screen: NDArray[np.uint8]) -> bool:
        """Whether all colours of a screen were learnt. Few of its pixels differ from the one asked about before."""
        words = screen.reshape(-1).view(np.uint64)
        new = words if words.size != self._known.size else words[words != self._known]
        if not self._words[new.view(np.uint8)].all():
            return False
        if new.size:
            self._known = words.copy()
        return True

    def learn(self, screen: NDArray[np.uint8], rgb: NDArray[np.uint8]) -> None:
        """Take in the colours of a screen that looks like ``rgb``, of shape (height, width, 3)."""
        self._bgrx[screen, :3] = rgb[:, :, ::-1]
        self._bgrx[screen, 3] = KNOWN

    def rgb(self, colours: NDArray[np.uint8]) -> NDArray[np.uint8]:
        return self._bgrx[colours, 2::-1]


class AtariEnvironment(Environment):
    """One Atari game; the emulators are shared with the others. The picture is 160 by 210, in some games higher."""

    def __init__(self, game: Atari, emulators: Emulators) -> None:
        self._game = game
        self._emulators = emulators
        self._palette = Palette()

    def reset(self, seed: int) -> None:
        self._ale = self._emulators.begin(self._game, seed)
        self._frameskips = Frameskips(self._game.frameskip, seed)
        # The actions of the last frames.
        self._asked: deque[int] = deque(maxlen=ASKED)
        size = cast("tuple[int, int]", self._ale.getScreenDims())  # pyright: ignore[reportUnknownMemberType]
        self._screen = np.empty(size, np.uint8)
        self._rgb = np.empty((*size, 3), np.uint8)
        # With max_pool: the frame before the last one, and what people see of both.
        self._before = np.empty(size, np.uint8)
        self._pooled = np.empty((*size, 4), np.uint8)
        self._keep()

    def step(self, keys: frozenset[int]) -> Outcome:
        """The joystick's action for as many frames as this step takes; their rewards are summed."""
        return self._play(keys, seen=True)

    def skip(self, keys: frozenset[int]) -> Outcome:
        """The same; with ``max_pool`` the frame before isn't kept, so that a last picture is of one frame alone."""
        return self._play(keys, seen=False)

    def _play(self, keys: frozenset[int], *, seen: bool) -> Outcome:
        action, frames = joystick(keys), self._frameskips.next()
        self._asked.extend(repeat(action, frames))
        reward = sum(self._ale.act(action) for _ in range(frames - 1))
        if seen and self._game.max_pool:
            self._keep()
        reward += self._ale.act(action)
        over = self._ale.game_over(with_truncation=False)
        truncated = not over and self._ale.game_truncated()
        if not seen and (over or truncated):
            self._keep()
        reason = "game over" if over else f"time limit: {MAX_FRAMES} frames" if truncated else ""
        return Outcome(float(reward), over, truncated, reason)

    def frame(self) -> NDArray[np.uint8]:
        """The emulator's screen, shape (height, width), a byte a pixel; with ``max_pool`` BGRX."""
        self._ale.getScreen(self._screen)
        if not self._game.max_pool:
            return self._screen
        before = np.empty_like(self._pooled)
        self._draw(self._pooled, slice(None))
        self._palette.draw(self._before, before)
        return np.maximum(self._pooled, before, out=self._pooled)

    def draw(self, picture: NDArray[np.uint8], top: int, bottom: int) -> None:
        rows = slice(top, bottom)
        if self._game.max_pool:
            picture[rows] = self._pooled[rows]
        else:
            self._draw(picture, rows)

    def rgb(self) -> NDArray[np.uint8]:
        """The emulator's own colours; with ``max_pool`` of the brighter of two frames."""
        self._ale.getScreenRGB(self._rgb)
        if self._game.max_pool:
            self._ale.getScreen(self._screen)
            before, rgb = self._before.reshape(-1), self._rgb.reshape(-1, 3)
            differs = np.flatnonzero(self._screen.reshape(-1) != before)
            rgb[differs] = np.maximum(rgb[differs], self._palette.rgb(before[differs]))
        return self._rgb

    def save(self) -> Kept | None:
        """The emulator's state, and the action that may be repeated; None where that isn't known."""
        state, action = self._ale.cloneState(include_rng=True).serialize(), None
        sticky = self._game.repeat_action_probability
        if sticky:
            action = taken(state, sticky, self._asked) if sticky < LUCK else None
            if action is None:
                return None
        asked = tuple(self._asked)
        return Kept((self._game, state, self._frameskips.save(), asked, action), len(state))

    def load(self, kept: Kept) -> None:
        import ale_py

        game, state, frameskips, asked, action = kept.state
        if game != self._game:
            raise ValueError(f"the snapshot is of {game.rom}, with options of its own")
        if action is not None:
            self._ale.restoreState(ale_py.ALEState(with_luck(state)))
            self._ale.act(action)
        self._ale.restoreState(ale_py.ALEState(state))
        self._frameskips.load(frameskips)
        self._asked.clear()
        self._asked.extend(asked)

    @property
    def lives(self) -> int:
        return self._ale.lives()

    def _keep(self) -> None:
        """Keep the screen as it is now, while its colours can be learnt."""
        self._ale.getScreen(self._before)
        if not self._palette.knows(self._before):
            self._palette.learn(self._before, self._ale.getScreenRGB())

    def _draw(self, picture: NDArray[np.uint8], rows: slice) -> None:
        if not self._palette.draw(self._screen[rows], picture[rows]):
            self._palette.learn(self._screen, self._ale.getScreenRGB())
            self._palette.draw(self._screen[rows], picture[rows])
