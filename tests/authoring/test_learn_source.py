"""Glyphs that are learnt from a runtime's labelled recordings: which of them, which moments, and what is told."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from pluriverse_authoring import AuthoringError
from pluriverse_authoring.labels import LabelledValues, labels_path
from pluriverse_authoring.learn import crops_of, learn_source
from pluriverse_authoring.recording.replay import Replay
from pluriverse_protocol.recordings import Header, Update
from pluriverse_protocol.rfb.raw_updates import raw_update
from support.glyphs import Style, draw
from support.recorded import recorded

STYLE = Style("DejaVuSans")
FIRST, SECOND = "toy.First-v0", "toy.Second-v0"

RUNTIME = f"""
{{games}}
[runtime]
id = "toy"
version = "1.0.0"
title = "Toy"
default_env = "{FIRST}"
screen = {{{{ width = {STYLE.width}, height = {STYLE.height} }}}}
"""
GAME = f"""
[program]
command = ["true"]
[reset]
by = "restart"
[sources.score]
from = "screen"
read = "number"
region = [0, 0, {STYLE.width}, {STYLE.height}]
glyphs = "score"
[sources.exit]
from = "process"
read = "exit"
[[rewards]]
source = "score"
"""


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    """A runtime of two environments that are read alike."""
    envs = "".join(f'[[envs]]\nid = "{env_id}"\n' for env_id in (FIRST, SECOND))
    (tmp_path / "runtime.toml").write_text(RUNTIME.format(games="") + GAME + envs)
    return tmp_path


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """A runtime of two games, each with its own sources."""
    (tmp_path / "games").mkdir()
    (tmp_path / "runtime.toml").write_text(RUNTIME.format(games='games = "games"'))
    for env_id in (FIRST, SECOND):
        (tmp_path / "games" / f"{env_id}.toml").write_text(f'[env]\nid = "{env_id}"\n{GAME}')
    return tmp_path


def record(
    directory: Path, name: str, shown: Sequence[str], *, env_id: str = FIRST, said: Sequence[str] | None = None
) -> Path:
    """A recording that shows a number a second, labelled with what is ``said`` that it shows, or with the truth."""
    box = (0, 0, STYLE.width, STYLE.height)
    pictures = [raw_update([(box, draw(text, STYLE, at).tobytes())]) for at, text in enumerate(shown)]
    path = recorded(
        directory / "recordings" / name,
        [Update(float(at), picture) for at, picture in enumerate(pictures)],
        Header("toy", "1.0.0", env_id, STYLE.width, STYLE.height, 10.0, 1000.0),
    )
    steps = [[at, int(text)] for at, text in enumerate(said or shown)]
    labels_path(path).write_text(json.dumps({"recording": name, "sources": {"score": steps}}))
    return path


NUMBERS = ("0", "12", "345", "6789", "100", "2468", "13579", "90")


def test_glyphs_are_learnt_from_all_recordings_that_are_read_alike(toy: Path) -> None:
    record(toy, "1.plrec", NUMBERS[:4])
    record(toy, "2.plrec", NUMBERS[4:], env_id=SECOND)
    learnt = learn_source(toy, "score", SECOND)
    assert (learnt.path, learnt.characters, learnt.crops) == (toy / "score", "0123456789", len(NUMBERS))
    assert learnt.path.is_file()


def test_another_games_recordings_teach_nothing(games: Path) -> None:
    record(games, "1.plrec", NUMBERS)
    # Of the other game's score, which looks like anything.
    record(games, "2.plrec", NUMBERS, env_id=SECOND, said=NUMBERS[::-1])
    assert learn_source(games, "score").crops == len(NUMBERS)
    assert learn_source(games, "score", FIRST).crops == len(NUMBERS)
    (games / "recordings" / "1.plrec").unlink()
    with pytest.raises(AuthoringError, match=f"no recording of {FIRST} in .*recordings has labels of score; make one"):
        learn_source(games, "score")


def test_a_source_that_reads_no_characters_is_refused(toy: Path) -> None:
    with pytest.raises(AuthoringError, match="exit doesn't read a number or text; expected one of: score"):
        learn_source(toy, "exit")


def test_a_label_that_may_be_wrong_is_listed(toy: Path) -> None:
    record(toy, "1.plrec", NUMBERS * 2)
    record(toy, "2.plrec", ["0"] * 61 + ["3717"], said=["0"] * 61 + ["3777"])
    learnt = learn_source(toy, "score")
    assert learnt.crops == 78
    (doubt,) = learnt.doubtful
    assert doubt.startswith("2.plrec at 1:01.000 is labelled '3777', but reads '3717' with a confidence of ")


def test_of_too_many_crops_an_even_sample_is_taken(toy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pluriverse_authoring.learn.MAX_CROPS", 10)
    # What is learnt is in the first and the last.
    record(toy, "1.plrec", ["1234"] * 20)
    record(toy, "2.plrec", ["567890"] * 20)
    learnt = learn_source(toy, "score")
    assert (learnt.characters, learnt.crops) == ("0123456789", 10)


STEPS: LabelledValues = [(0.0, 0.0), (1.0, 12.0), (2.0, 345.0), (2.5, None), (3.0, 6789.0)]


def crops(path: Path) -> list[tuple[float, str, bool]]:
    """When, what was labelled, and whether that is what is to be seen."""
    found = crops_of(Replay(path), STEPS, (0, 0, STYLE.width, STYLE.height))
    return [(crop.at, crop.text, bool((crop.pixels == draw(crop.text, STYLE, int(crop.at))).all())) for crop in found]


def test_each_value_is_shown_as_it_was_then(toy: Path) -> None:
    path = record(toy, "1.plrec", NUMBERS[:4])
    assert crops(path) == [(0.0, "0", True), (1.0, "12", True), (2.0, "345", True), (3.0, "6789", True)]


def test_a_damaged_recording_is_named(toy: Path) -> None:
    path = record(toy, "1.plrec", NUMBERS)
    data = bytearray(path.read_bytes())
    data[-4] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(AuthoringError, match=r"recordings/1\.plrec: .* is damaged"):
        learn_source(toy, "score")
