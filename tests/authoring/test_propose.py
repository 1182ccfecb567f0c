"""Programs that propose what a recording's pictures show: what they are asked, and what becomes of their answers."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont
from pluriverse_authoring import AuthoringError
from pluriverse_authoring.labels import read_proposals
from pluriverse_authoring.propose import propose
from pluriverse_protocol.recordings import Header, Record, Update
from pluriverse_protocol.rfb.raw_updates import raw_update
from support.recorded import recorded
from support.remotes import ROOT
from support.sockets import answering

WIDTH, HEIGHT = 200, 80
REGION = (60, 20, 100, 40)
SCORES = (0, 15, 0, 230)

MANIFEST = f"""
program.command = ["toy"]
reset.by = "restart"
rewards = [{{ source = "score" }}]
envs = [{{ id = "toy.First-v0" }}]
[runtime]
id = "toy"
version = "1.0.0"
title = "Toy"
default_env = "toy.First-v0"
[sources]
score = {{ from = "screen", read = "number", region = {list(REGION)} }}
over = {{ from = "screen", read = "colour", region = [0, 0, 20, 20], colour = "#ff0000" }}
said = {{ from = "log", pattern = "said" }}
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
    records: list[Record] = []
    for second, score in enumerate(SCORES):
        records.append(Update(second, raw_update([((0, 0, WIDTH, HEIGHT), picture(score).tobytes("raw", "BGRX"))])))
        records.append(Update(second + 0.5, raw_update([((190, 70, 1, 1), bytes((second + 1, 0, 0, 0)))])))
    header = Header("toy", "1.0.0", "toy.First-v0", WIDTH, HEIGHT, 10.0, 1000.0)
    return recorded(tmp_path / "recordings" / "first.plrec", records, header)


def program(folder: Path, body: str) -> str:
    """A command that does this with each question, ``asked``."""
    path = folder / "program.py"
    path.write_text(f"import base64, json, sys\nfor line in sys.stdin:\n  asked = json.loads(line)\n  {body}\n")
    return f"{sys.executable} {path}"


def say(answer: str) -> str:
    return f"print(json.dumps({answer}), flush=True)"


def proposed(recording: Path, command: str, source: str | None = "score", **options: Any) -> list[Any]:
    said: list[str] = []
    propose(recording, command, source, said.append, **options)
    assert "first.proposals.json" in said[0]
    return read_proposals(recording).sources[source or "score"]


def test_each_different_picture_is_asked_about_once_and_proposed_wherever_it_is_seen(
    tmp_path: Path, recording: Path
) -> None:
    log = tmp_path / "asked"
    body = f"open({str(log)!r}, 'a').write(line); " + say('{"id": asked["id"], "value": asked["id"] * 10}')
    assert proposed(recording, program(tmp_path, body)) == [(0, 0, 1), (1, 10, 1), (2, 0, 1), (3, 20, 1)]
    asked = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(each["id"], each["at"]) for each in asked] == [(0, 0), (1, 1), (2, 3)]
    assert {key: asked[0][key] for key in ("source", "kind", "region")} == {
        "source": "score",
        "kind": "number",
        "region": list(REGION),
    }
    assert read_proposals(recording).by == {"score": program(tmp_path, body)}


def test_whole_pictures_are_shown_if_wanted_and_null_is_no_proposal(tmp_path: Path, recording: Path) -> None:
    size = "int.from_bytes(base64.b64decode(asked['png'])[16:20], 'big')"
    body = say('{"id": asked["id"], "value": %s if asked["id"] else None, "confidence": 0.5}' % size)  # noqa: UP031
    assert proposed(recording, program(tmp_path, body)) == [(1, REGION[2], 0.5), (3, REGION[2], 0.5)]
    assert proposed(recording, program(tmp_path, body), frames=True) == [(1, WIDTH, 0.5), (3, WIDTH, 0.5)]


def test_sources_are_asked_about_one_by_one_or_together_and_what_others_have_is_kept(
    tmp_path: Path, recording: Path
) -> None:
    proposed(recording, program(tmp_path, say('{"id": asked["id"], "value": 1}')), "over")
    proposed(recording, program(tmp_path, say('{"id": asked["id"], "value": 2}')))
    assert read_proposals(recording).sources["over"] == [(0, 1, 1)]
    proposed(recording, program(tmp_path, say('{"id": asked["id"], "value": 3}')), None)
    assert {value for steps in read_proposals(recording).sources.values() for _, value, _ in steps} == {3}


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        ("print('hm', flush=True)", "answers 'hm'; expected"),
        (say('{"id": 0, "value": 1, "sure": 1}'), "sure: Extra inputs"),
        (say('{"id": 0, "value": "ten"}'), "the values of score are a number or null"),
        (say('{"id": 0, "value": True}'), "the values of score are a number or null"),
        (say('{"id": 99, "value": 1}'), "an unknown picture id"),
        (say('{"id": 0, "value": 1, "confidence": 2}'), "confidence: Input should be less than"),
        ("sys.exit(3)", "ended with status 3 after 0 of 3 answers"),
        ("print('x' * 100_000, flush=True); __import__('time').sleep(600)", "a line of over"),
        ("sys.stdout.close(); __import__('os').close(1); sys.exit(3)", "ended with status 3 after 0 of 3 answers"),
    ],
)
def test_what_cannot_be_used_is_told(tmp_path: Path, recording: Path, body: str, complaint: str) -> None:
    with pytest.raises(AuthoringError, match=complaint):
        proposed(recording, program(tmp_path, body))


@pytest.mark.parametrize(
    ("command", "source", "complaint"),
    [
        ("/no/such-program", "score", "can't be started: No such file"),
        ("'", "score", "isn't a command"),
        (" ", "score", "expected a program's command"),
        ("true", "said", "expected a source on the screen, of which there are: score, over"),
    ],
)
def test_commands_and_sources_that_are_none_are_told(
    recording: Path, command: str, source: str, complaint: str
) -> None:
    with pytest.raises(AuthoringError, match=complaint):
        proposed(recording, command, source)


def test_what_a_program_has_started_is_ended_with_it(tmp_path: Path, recording: Path) -> None:
    began = time.monotonic()
    body = "__import__('subprocess').Popen(['sleep', '600']); print('hm', flush=True); __import__('time').sleep(600)"
    with pytest.raises(AuthoringError, match="answers 'hm'"):
        proposed(recording, program(tmp_path, body))
    assert time.monotonic() - began < 60


def test_tesseract_of_the_examples_reads_what_is_written(recording: Path) -> None:
    pytest.importorskip("tesserocr")
    found = proposed(recording, f"{sys.executable} {ROOT / 'examples/propose_tesseract.py'}")
    assert [(at, value) for at, value, _ in found] == list(enumerate(SCORES))
    assert all(sure > 0.5 for _, _, sure in found)


def test_a_vision_model_of_the_examples_is_asked(recording: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def say_the_same(_path: str, asked: bytes) -> tuple[int, bytes]:
        assert json.loads(asked)["messages"][0]["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")
        message = {"content": 'It is {"value": 15, "confidence": 0.9}.'}
        return 200, json.dumps({"choices": [{"message": message}]}).encode()

    with answering(say_the_same, "application/json") as address:
        monkeypatch.setenv("VISION_URL", f"{address}/v1")
        monkeypatch.setenv("VISION_MODEL", "any")
        found = proposed(recording, f"{sys.executable} {ROOT / 'examples/propose_vision.py'}")
    assert {(value, sure) for _, value, sure in found} == {(15, 0.9)}
