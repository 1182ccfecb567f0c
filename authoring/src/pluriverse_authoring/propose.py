"""Asks a program what a recording's pictures show, and keeps its answers in NAME.proposals.json.

The program gets a line of JSON on its standard input for each picture, and writes one for each to its output, in any
order, before it ends::

    {"id": 0, "source": "score", "kind": "number", "at": 1.25, "region": [8, 8, 72, 20], "png": "iVBORw0KGgo…"}
    {"id": 0, "value": 120, "confidence": 0.97}

``png`` is a picture in base64: what was in the source's ``region``, or with --frames the whole screen. ``kind`` is
``number``, ``string`` or ``boolean``, or null where values may be of any. A ``value`` of null is no proposal;
``confidence``, of 0 to 1, is 1 by default.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import select
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pluriverse_protocol.recordings import MalformedRecording
from pluriverse_server.manifest.runtime import ManifestError
from pluriverse_server.manifest.sources import Share
from pluriverse_server.manifest.table import Table
from pydantic import Field, ValidationError

from pluriverse_authoring import AuthoringError

from .frames import RecordedFrames, png_of
from .label import Kind, Known, what_is_read
from .labels import Proposal, Proposals, Text, game_of, proposals_path, read_proposals, write_table

# A person accepts some hundreds; with more, one source after the other.
MAX_PICTURES: Final = 5000

# A model that is loaded first takes a minute.
ANSWER_S: Final = 300.0

# A program that writes no more ends soon.
END_S: Final = 5.0

# A line may quote a text of a thousand characters, each as six.
MAX_LINE_BYTES: Final = 64 * 1024

_KINDS: Final[dict[Kind, str]] = {"number": "a number", "string": "a text", "boolean": "true or false"}


class Answer(Table):
    id: Annotated[int, Field(ge=0)]
    value: bool | float | Text | None
    confidence: Share = 1.0


@dataclass(frozen=True, slots=True)
class Picture:
    """What is asked about: a source's region at the times when it looked the same."""

    source: str
    kind: Kind | None
    region: Sequence[int]
    times: list[float]
    png: bytes

    def line(self, number: int) -> bytes:
        asked = {"id": number, "source": self.source, "kind": self.kind, "at": self.times[0]}
        png = base64.b64encode(self.png).decode()
        return json.dumps({**asked, "region": list(self.region), "png": png}).encode() + b"\n"


def propose(
    recording: Path, command: str, source: str | None, say: Callable[[str], None], *, frames: bool = False
) -> None:
    """Ask a program's ``command`` about each picture of a source, or of all; write the proposals.

    With ``frames`` it is shown the whole screen each time, else the source's region. ``say`` gets the result.
    """
    try:
        recorded = RecordedFrames(recording)
        try:
            known, _ = what_is_read(game_of(recording, recorded.header))
            pictures = _pictures_of(recorded, _chosen(known, source), frames=frames)
        finally:
            recorded.close()
    except (MalformedRecording, ManifestError) as error:
        raise AuthoringError(str(error)) from error
    except OSError as error:
        raise AuthoringError(f"{error.filename or recording}: {error.strerror}") from error
    answers: dict[int, Answer] = {}
    try:
        if pictures:
            _ask(command, pictures, answers)
    finally:
        if answers:
            path = proposals_path(recording)
            write_table(path, _merged(recording, command, pictures, answers))
            made = sum(answer.value is not None for answer in answers.values())
            say(f"{command} proposes values for {made} of {len(pictures)} pictures: {path}")


def _pictures_of(recorded: RecordedFrames, regions: Mapping[str, Known], *, frames: bool) -> list[Picture]:
    found: dict[tuple[str, bytes], Picture] = {}
    for name, known in regions.items():
        assert known.region is not None
        for at, part, frame in recorded.changes_of(known.region):
            key = (name, hashlib.sha256(part.tobytes()).digest())
            if key in found:
                found[key].times.append(at)
                continue
            found[key] = Picture(name, known.kind, known.region, [at], png_of(frame if frames else part))
            if len(found) > MAX_PICTURES:
                raise AuthoringError(
                    f"over {MAX_PICTURES} different pictures of {', '.join(regions)}; choose one source with "
                    "--source, or make its region smaller"
                )
    return list(found.values())


def _ask(command: str, pictures: Sequence[Picture], answers: dict[int, Answer]) -> None:
    """Put a program's answers about the pictures into ``answers``, by their places."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise AuthoringError(f"{command!r} isn't a command: {error}") from None
    if not words:
        raise AuthoringError("expected a program's command")
    with tempfile.TemporaryFile() as questions:
        questions.writelines(picture.line(number) for number, picture in enumerate(pictures))
        questions.seek(0)
        try:
            process = subprocess.Popen(words, stdin=questions, stdout=subprocess.PIPE, start_new_session=True)
        except OSError as error:
            raise AuthoringError(f"{words[0]} can't be started: {error.strerror}") from error
        with process:
            try:
                for line in _lines(process, command):
                    answer = _answer(command, line, pictures)
                    answers[answer.id] = answer
                    if len(answers) == len(pictures):
                        return
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(END_S)
                ended = f"{command} ended with status {process.returncode}"
                raise AuthoringError(f"{ended} after {len(answers)} of {len(pictures)} answers")
            finally:
                # With what it has started, which may have its output too.
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)


def _lines(process: subprocess.Popen[bytes], command: str) -> Iterator[bytes]:
    assert process.stdout is not None
    pending = b""
    while True:
        if not select.select([process.stdout], [], [], ANSWER_S)[0]:
            raise AuthoringError(f"{command} has been silent for {ANSWER_S:g} s")
        data = os.read(process.stdout.fileno(), MAX_LINE_BYTES)
        if not data:
            return
        *lines, pending = (pending + data).split(b"\n")
        if max(map(len, (*lines, pending))) > MAX_LINE_BYTES:
            raise AuthoringError(f"{command} writes a line of over {MAX_LINE_BYTES} bytes")
        yield from lines


def _answer(command: str, line: bytes, pictures: Sequence[Picture]) -> Answer:
    text = line.decode(errors="replace").strip()
    try:
        answer = Answer.model_validate_json(line)
    except ValidationError as error:
        why = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:3])
        raise AuthoringError(f'{command} answers {text!r:.200}; expected {{"id": 0, "value": 120}}: {why}') from None
    if answer.id >= len(pictures):
        raise AuthoringError(f"{command} answers {text!r:.200}, an unknown picture id")
    kind = pictures[answer.id].kind
    if kind is not None and answer.value is not None and _kind_of(answer.value) != kind:
        raise AuthoringError(
            f"{command} answers {text!r:.200}; the values of {pictures[answer.id].source} are {_KINDS[kind]} or null"
        )
    return answer


def _kind_of(value: bool | float | str) -> Kind:
    return "boolean" if isinstance(value, bool) else "string" if isinstance(value, str) else "number"


def _merged(recording: Path, command: str, pictures: Sequence[Picture], answers: Mapping[int, Answer]) -> Proposals:
    """Return what is proposed now, with what was before of other sources."""
    sources: dict[str, list[Proposal]] = {picture.source: [] for picture in pictures}
    for number, answer in answers.items():
        if answer.value is not None:
            picture = pictures[number]
            sources[picture.source] += [(at, answer.value, answer.confidence) for at in picture.times]
    before = read_proposals(recording)
    by = {**before.by, **dict.fromkeys(sources, command)}
    return Proposals(by=by, sources={**before.sources, **{name: sorted(each) for name, each in sources.items()}})


def _chosen(known: Mapping[str, Known], source: str | None) -> dict[str, Known]:
    visible = {name: each for name, each in known.items() if each.region is not None}
    if source is not None:
        if source not in visible:
            there = ", ".join(visible) or "none"
            raise AuthoringError(f"--source {source}: expected a source on the screen, of which there are: {there}")
        return {source: visible[source]}
    if not visible:
        raise AuthoringError("no source is on the screen; define a source with a region in runtime.toml")
    return visible
