"""What programs play on a card that is in the clock's library, heard sample by sample."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import numpy as np
import pytest
from numpy.typing import NDArray
from pluriverse_protocol.sound import RATE
from pluriverse_server.lockstep import Advance, PreloadedClock
from pluriverse_server.scraper.sound import Card

pytestmark = [pytest.mark.slow, pytest.mark.display]

Start = Callable[..., subprocess.Popen[bytes]]

FPS: Final = 60
PLAYS: Final = Path(__file__).with_name("plays.py")
START_S: Final = 60.0
LIMIT_S: Final = 5

# Loud and quiet, left and right not the same, and none of it silent.
TONE: Final = (np.arange(1, 2 * RATE // 2 + 1) * 7919 % 30011 + 1).astype(np.int16).reshape(-1, 2)


def heard(folder: Path, start: Start, *command: str) -> list[NDArray[np.int16]]:
    """Return what a program plays in each frame until it has ended."""
    folder.mkdir()
    frames: list[NDArray[np.int16]] = []
    with PreloadedClock(folder, seed=1, frame_time=1 / FPS) as clock:
        program = start(clock.command(command), **Card(folder).environment)
        assert clock.await_program(START_S)
        for _ in range(LIMIT_S * FPS):
            answer = clock.advance(1 / FPS, patience_s=START_S)
            frames.append(clock.sound())
            if answer is Advance.ENDED:
                assert program.wait() == 0
                return frames
            assert answer is Advance.DONE
    pytest.fail(f"the program did not end in {LIMIT_S} s")


def sounding(frames: list[NDArray[np.int16]]) -> NDArray[np.int16]:
    """Return what was heard without the silence before and after."""
    sound = np.concatenate(frames)
    (loud,) = np.nonzero(np.any(sound, axis=1))
    return sound[loud[0] : loud[-1] + 1]


@pytest.fixture
def tone(tmp_path: Path) -> str:
    (tmp_path / "tone").write_bytes(TONE.tobytes())
    return str(tmp_path / "tone")


@pytest.mark.parametrize("library", ["alsa", "sdl", "openal"])
def test_tone_that_a_program_plays_is_heard_and_each_time_the_same(
    library: str, tone: str, start: Start, tmp_path: Path
) -> None:
    once, again = (heard(tmp_path / name, start, sys.executable, str(PLAYS), library, tone) for name in ("a", "b"))
    assert [frame.tobytes() for frame in once] == [frame.tobytes() for frame in again]
    assert {len(frame) for frame in once[:-1]} == {RATE // FPS}
    # OpenAL adds noise of a bit or two, and fades in.
    if library == "openal":
        assert np.abs(sounding(once)[: RATE // 4].astype(int) - TONE[: RATE // 4]).mean() < 2
    else:
        assert np.array_equal(sounding(once), TONE)
