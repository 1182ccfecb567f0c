"""Programs that propose what a recording's pictures show: what they are asked, and what becomes of their answers."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont
from pluriverse_protocol.recordings import Header, Update
from pluriverse_protocol.rfb.raw_updates import raw_update
from pluriverse_server.authoring import AuthoringError
from pluriverse_server.authoring.propose import ask as module
from pluriverse_server.authoring.propose.ask import propose
from pluriverse_server.authoring.propose.proposals import read_proposals
from pluriverse_server.recording.file import RecordingFile

WIDTH, HEIGHT = 200, 80
REGION = (60, 20, 100, 40)
SCORES = (0, 15, 0, 230)

MANIFEST = f"""
[runtime]
id = "toy"
version = "1.0.0"
title = "Toy"
default_env = "toy.First-v0"

[program]
command = ["toy"]

[reset]
by = "restart"

[sources.score]
from = "screen"
read = "number"
region = {list(REGION)}

[sources.over]
from = "screen"
read = "colour"
region = [0, 0, 20, 20]
colour = "#ff0000"

[sources.said]
from = "log"
pattern = "said"

[[rewards]]
source = "score"

[[envs]]
id = "toy.First-v0"
"""


def picture(score: int) -> Image.Image:
    """The screen with a score."""
    image = Image.new("RGB", (WIDTH, HEIGHT))
    font = ImageFont.truetype("DejaVuSans.ttf", 28)
    ImageDraw.Draw(image).text((70, 24), str(score), (255, 255, 255), font)
    return image


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A second of each score, in its runtime's folder; what is outside of the regions changes in between."""
    (tmp_path / "runtime.toml").write_text(MANIFEST)
    path = tmp_path / "recordings" / "first.plrec"
    path.parent.mkdir()
    file = RecordingFile(path, Header("toy", "1.0.0", "toy.First-v0", WIDTH, HEIGHT, 10.0, 1000.0))
    for second, score in enumerate(SCORES):
        file.write(Update(second, raw_update([((0, 0, WIDTH, HEIGHT), picture(score).tobytes("raw", "BGRX"))])))
        file.write(Update(second + 0.5, raw_update([((190, 70, 1, 1), bytes((second + 1, 0, 0, 0)))])))
    file.close()
    return path


def program(folder: Path, body: str) -> str:
    """A command that does this with each question, ``asked``."""
    path = folder / "program.py"
    path.write_text(f"import base64, json, sys\nfor line in sys.stdin:\n  asked = json.loads(line)\n  {body}\n")
    return f"{sys.executable} {path}"


def say(answer: str) -> str:
    return f"print(json.dumps({answer}), flush=True)"


async def proposed(recording: Path, command: str, source: str | None = "score", **options: Any) -> list[Any]:
    said: list[str] = []
    await propose(recording, command, source, said.append, **options)
    assert "first.proposals.json" in said[0]
    return read_proposals(recording).sources[source or "score"]


async def test_each_different_picture_is_asked_about_once_and_proposed_wherever_it_is_seen(
    tmp_path: Path, recording: Path
) -> None:
    log = tmp_path / "asked"
    body = f"open({str(log)!r}, 'a').write(line); " + say('{"id": asked["id"], "value": asked["id"] * 10}')
    assert await proposed(recording, program(tmp_path, body)) == [(0, 0, 1), (1, 10, 1), (2, 0, 1), (3, 20, 1)]
    asked = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(each["id"], each["at"]) for each in asked] == [(0, 0), (1, 1), (2, 3)]
    assert {key: asked[0][key] for key in ("source", "kind", "region")} == {
        "source": "score",
        "kind": "number",
        "region": list(REGION),
    }
    assert read_proposals(recording).by == {"score": program(tmp_path, body)}


async def test_whole_pictures_are_shown_if_wanted_and_null_is_no_proposal(tmp_path: Path, recording: Path) -> None:
    size = "int.from_bytes(base64.b64decode(asked['png'])[16:20], 'big')"
    body = say('{"id": asked["id"], "value": %s if asked["id"] else None, "confidence": 0.5}' % size)  # noqa: UP031
    assert await proposed(recording, program(tmp_path, body)) == [(1, REGION[2], 0.5), (3, REGION[2], 0.5)]
    assert await proposed(recording, program(tmp_path, body), frames=True) == [(1, WIDTH, 0.5), (3, WIDTH, 0.5)]


async def test_sources_are_asked_about_one_by_one_or_together_and_what_others_have_is_kept(
    tmp_path: Path, recording: Path
) -> None:
    await proposed(recording, program(tmp_path, say('{"id": asked["id"], "value": 1}')), "over")
    await proposed(recording, program(tmp_path, say('{"id": asked["id"], "value": 2}')))
    assert read_proposals(recording).sources["over"] == [(0, 1, 1)]
    await proposed(recording, program(tmp_path, say('{"id": asked["id"], "value": 3}')), None)
    assert {value for steps in read_proposals(recording).sources.values() for _, value, _ in steps} == {3}


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("print('hm', flush=True)", "answers 'hm'; expected"),
        (say('{"id": 0, "value": 1, "sure": 1}'), "sure: Extra inputs"),
        (say('{"id": 0, "value": "ten"}'), "the values of score are a number or null"),
        (say('{"id": 0, "value": True}'), "the values of score are a number or null"),
        (say('{"id": 99, "value": 1}'), "no picture has that id"),
        (say('{"id": 0, "value": 1, "confidence": 2}'), "confidence: Input should be less than"),
        ("sys.exit(3)", "ended with status 3 after 0 of 3 answers"),
        ("print('x' * 100_000, flush=True)", "a line of over"),
    ],
)
async def test_what_cannot_be_used_is_told(tmp_path: Path, recording: Path, body: str, complaint: str) -> None:
    with pytest.raises(AuthoringError, match=complaint):
        await proposed(recording, program(tmp_path, body))


async def test_what_was_answered_before_it_failed_is_kept(tmp_path: Path, recording: Path) -> None:
    body = say('{"id": asked["id"], "value": 7}') + "; asked['id'] == 1 and sys.exit(1)"
    with pytest.raises(AuthoringError, match="after 2 of 3 answers"):
        await proposed(recording, program(tmp_path, body))
    assert [value for _, value, _ in read_proposals(recording).sources["score"]] == [7, 7, 7]


async def test_a_program_that_says_nothing_is_ended(
    tmp_path: Path, recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "ANSWER_S", 0.3)
    with pytest.raises(AuthoringError, match=r"has said nothing for 0\.3 s"):
        await proposed(recording, program(tmp_path, "import signal; signal.pause()"))


@pytest.mark.parametrize(
    ("command", "source", "complaint"),
    [
        ("/no/such-program", "score", "can't be started: No such file"),
        ("'", "score", "is no command"),
        (" ", "score", "expected tesseract or vision"),
        ("true", "said", "expected a source on the screen, of which there are: score, over"),
    ],
)
async def test_commands_and_sources_that_are_none_are_told(
    recording: Path, command: str, source: str, complaint: str
) -> None:
    with pytest.raises(AuthoringError, match=complaint):
        await proposed(recording, command, source)


async def test_too_many_pictures_are_refused(recording: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PICTURES", 2)
    with pytest.raises(AuthoringError, match="over 2 different pictures"):
        await proposed(recording, "true")


async def test_tesseract_reads_what_is_written(recording: Path) -> None:
    found = await asyncio.wait_for(proposed(recording, "tesseract"), 60)
    assert [(at, value) for at, value, _ in found] == list(enumerate(SCORES))
    assert all(sure > 0.5 for _, _, sure in found)
