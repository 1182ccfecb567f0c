"""Keeps Atari games loaded, since loading takes 0.2 s, and seeds them as if they were loaded anew.

ale-py takes a seed only while loading. It seeds one Mersenne Twister, which decides when an action is repeated. So the
state after loading is restored with that generator seeded anew, and the game is reset: 10 ms, with the same frames and
rewards as a freshly loaded game. Where ale-py has drawn from the generator while loading (two games, with sticky
actions) or its state has an unknown form, the game is loaded again.
"""

from __future__ import annotations

import struct
import sys
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ale_py import ALEInterface, ALEState

    from .catalogue import Atari

# A game lasts at most 30 minutes of the emulator's 60 frames a second, as ale-py's own environments have it.
MAX_FRAMES: Final = 108_000

# A loaded game is about 0.3 MiB; an agent that plays more games than this in turn waits 0.2 s for each.
KEPT_GAMES: Final = 16

# ale-py's seeds are 32-bit integers, of which -1 means the time.
SEEDS: Final = 2**31

# The Mersenne Twister MT19937: 624 words, and the multiplier of its initialisation (Matsumoto and Nishimura, 2002).
MT_WORDS: Final = 624
MT_MULTIPLIER: Final = 1_812_433_253

# A serialized ALEState: six integers, a string that ends with the generator's state, two integers; 32-bit,
# little-endian, strings preceded by their length.
STRING_AT: Final = 6 * 4
AFTER_STRING: Final = 2 * 4


def import_ale() -> type[ALEInterface]:
    """Import ale-py without Gymnasium, which it only needs to register itself: saves 10 MiB and 0.3 s."""
    missing = object()
    gymnasium = sys.modules.get("gymnasium", missing)
    if gymnasium is missing:
        sys.modules["gymnasium"] = None  # type: ignore[assignment]
    try:
        import ale_py
    finally:
        if gymnasium is missing:
            del sys.modules["gymnasium"]
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
    return ale_py.ALEInterface


@dataclass(slots=True)
class _Loaded:
    ale: ALEInterface
    seed: int
    state: ALEState


class Emulators:
    """The loaded games; the least recently used are dropped first."""

    def __init__(self) -> None:
        self._interface = import_ale()
        self._loaded: OrderedDict[tuple[str, float, int | None, int | None], _Loaded] = OrderedDict()

    def begin(self, game: Atari, seed: int) -> ALEInterface:
        """Return the game as a new ``ALEInterface`` would be after ``loadROM`` and ``reset_game``.

        With ``random_seed`` = ``seed % 2**31``, the game's ``repeat_action_probability``, mode and difficulty, and
        ``max_num_frames_per_episode`` = 108,000. It is valid until the next ``begin``.
        """
        seed %= SEEDS
        key = (game.rom, game.repeat_action_probability, game.mode, game.difficulty)
        loaded = self._loaded.get(key)
        if loaded is None or not self._restore(loaded, seed):
            loaded = self._loaded[key] = self._load(game, seed, loaded)
        self._loaded.move_to_end(key)
        while len(self._loaded) > KEPT_GAMES:
            self._loaded.popitem(last=False)
        loaded.ale.reset_game()
        return loaded.ale

    def _load(self, game: Atari, seed: int, previous: _Loaded | None) -> _Loaded:
        import ale_py

        ale = self._interface() if previous is None else previous.ale
        ale.setInt("random_seed", seed)
        ale.setFloat("repeat_action_probability", game.repeat_action_probability)
        ale.setInt("max_num_frames_per_episode", MAX_FRAMES)
        ale.loadROM(str(Path(ale_py.__file__).parent / "roms" / f"{game.rom}.bin"))  # pyright: ignore[reportUnknownMemberType]
        own = ale.cloneState()
        if game.mode not in (None, own.getCurrentMode()):
            ale.setMode(game.mode)
        # Backgammon's own difficulty isn't among those that ale-py takes.
        if game.difficulty not in (None, own.getDifficulty()):
            ale.setDifficulty(game.difficulty)
        return _Loaded(ale, seed, ale.cloneState(include_rng=True))

    def _restore(self, loaded: _Loaded, seed: int) -> bool:
        import ale_py

        serialized = reseeded(loaded.state.serialize(), loaded.seed, seed)
        if serialized is None:
            return False
        loaded.ale.restoreState(ale_py.ALEState(serialized))
        return True


def reseeded(serialized: bytes, old: int, new: int) -> bytes | None:
    """Replace a generator seeded with ``old`` in a serialized ALEState by one seeded with ``new``.

    None if the state doesn't end with such a generator.
    """
    end = len(serialized) - AFTER_STRING
    start = end - len(generator(old))
    if start < STRING_AT or serialized[start:end] != generator(old):
        return None
    text = serialized[STRING_AT + 4 : start] + generator(new)
    return serialized[:STRING_AT] + struct.pack("<i", len(text)) + text + serialized[end:]


@lru_cache(maxsize=8)
def generator(seed: int) -> bytes:
    """Return a freshly seeded Mersenne Twister as C++ writes it to a stream, preceded by its length."""
    words = [seed]
    for index in range(1, MT_WORDS):
        previous = words[-1]
        words.append((MT_MULTIPLIER * (previous ^ previous >> 30) + index) % 2**32)
    text = " ".join(map(str, (*words, MT_WORDS))).encode()
    return struct.pack("<i", len(text)) + text
