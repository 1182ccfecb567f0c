"""Games go back to what they were, also those with sticky actions."""

import random
from typing import Any

import pytest
from gym_core.atari import AtariEnvironment
from gym_core.catalogue import Atari
from gym_core.emulators import Emulators
from support.nightly import nightly_but

LEFT, RIGHT, FIRE = 0xFF51, 0xFF53, ord("z")
KEYS = [frozenset(keys) for keys in ((), {LEFT}, {RIGHT}, {FIRE}, {LEFT, FIRE})]


def played(environment: AtariEnvironment, keys: list[frozenset[int]]) -> list[Any]:
    seen: list[Any] = []
    for each in keys:
        outcome = environment.step(each)
        seen.append((environment.rgb().tobytes(), outcome, environment.lives))
        if outcome.is_last:
            break
    return seen


ROMS = ["breakout", "pong", "seaquest", "video_pinball"]


@pytest.mark.parametrize("rom", nightly_but(ROMS[:1], ROMS))
@pytest.mark.parametrize(("frameskip", "probability"), [(4, 0.0), (1, 0.25), (None, 0.25), (4, 0.9)])
def test_what_follows_a_saved_moment_follows_it_again(rom: str, frameskip: int | None, probability: float) -> None:
    chance = random.Random(rom)
    emulators = Emulators()
    environment = AtariEnvironment(Atari(rom, frameskip, probability, max_pool=frameskip is None), emulators)
    saved = 0
    for seed in range(6):
        environment.reset(seed)
        played(environment, chance.choices(KEYS, k=chance.randrange(1, 40)))
        kept = environment.save()
        if kept is None:
            continue
        saved += 1
        keys = chance.choices(KEYS, k=20)
        first = played(environment, keys)
        played(environment, chance.choices(KEYS, k=5))
        environment.load(kept)
        assert played(environment, keys) == first
        # From another episode, and where the emulator's own play is over.
        environment.reset(seed + 100)
        environment.load(kept)
        assert played(environment, keys) == first
    assert saved >= (5 if probability < 0.5 else 1)


def test_a_moment_of_another_game_is_refused() -> None:
    emulators = Emulators()
    pong, other = (AtariEnvironment(Atari(rom, 4, 0.0), emulators) for rom in ("pong", "breakout"))
    pong.reset(1)
    other.reset(1)
    kept = pong.save()
    assert kept is not None
    with pytest.raises(ValueError, match="the snapshot is of pong"):
        other.load(kept)
