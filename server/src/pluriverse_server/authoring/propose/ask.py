"""Asks a program what a recording's pictures show, and keeps what it says in NAME.proposals.json."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import io
import json
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pluriverse_protocol.recordings import MalformedRecording
from pydantic import Field, ValidationError

from pluriverse_server.authoring import AuthoringError
from pluriverse_server.authoring.label.frames import RecordedFrames
from pluriverse_server.authoring.label.server import Kind, Known, what_is_read
from pluriverse_server.authoring.labels import Text, game_of, write_table
from pluriverse_server.manifest.runtime import ManifestError
from pluriverse_server.manifest.sources import Share
from pluriverse_server.manifest.table import Table

from .proposals import Proposal, Proposals, proposals_path, read_proposals

SHIPPED: Final = ("tesseract", "vision")

# A person accepts some hundreds; with more, one source after the other.
MAX_PICTURES: Final = 5000

# A model that is loaded first takes a minute.
ANSWER_S: Final = 300.0

# A line may quote a text of a thousand characters, each as six.
MAX_LINE_BYTES: Final = 64 * 1024

_PNG_LEVEL: Final = 1
_KINDS: Final[dict[Kind, str]] = {"number": "a number", "string": "a text", "boolean": "true or false"}


class Answer(Table):
    """One line of the program's."""

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
        """Return the question as the program gets it."""
        asked = {"id": number, "source": self.source, "kind": self.kind, "at": self.times[0]}
        png = base64.b64encode(self.png).decode()
        return json.dumps({**asked, "region": list(self.region), "png": png}).encode() + b"\n"


async def propose(
    recording: Path, command: str, source: str | None, say: Callable[[str], None], *, frames: bool = False
) -> None:
    """Ask ``command``, of SHIPPED or any program's, about each picture of a source, or of all; write the proposals.

    With ``frames`` it is shown the whole screen each time, else the source's region. ``say`` gets what came of it.

    Raises:
        AuthoringError: the recording, the source or the program can't be used. What it has answered is kept.
    """
    try:
        recorded = await asyncio.to_thread(RecordedFrames, recording)
        try:
            known, _ = what_is_read(game_of(recording, recorded.header))
            pictures = await asyncio.to_thread(pictures_of, recorded, _chosen(known, source), frames=frames)
        finally:
            recorded.close()
    except (MalformedRecording, ManifestError) as error:
        raise AuthoringError(str(error)) from error
    except OSError as error:
        raise AuthoringError(f"{error.filename or recording}: {error.strerror}") from error
    answers: dict[int, Answer] = {}
    try:
        await ask(command, pictures, answers)
    finally:
        if answers:
            path = proposals_path(recording)
            write_table(path, _merged(recording, command, pictures, answers))
            made = sum(answer.value is not None for answer in answers.values())
            say(f"{command} proposes values for {made} of {len(pictures)} pictures: {path}")


def pictures_of(recorded: RecordedFrames, regions: Mapping[str, Known], *, frames: bool = False) -> list[Picture]:
    """Return each different picture of each source.

    Raises:
        AuthoringError: they are too many.
    """
    found: dict[tuple[str, bytes], Picture] = {}
    for name, known in regions.items():
        assert known.region is not None
        for at, part, frame in recorded.changes_of(known.region):
            key = (name, hashlib.sha256(part.tobytes()).digest())
            if key in found:
                found[key].times.append(at)
                continue
            found[key] = Picture(name, known.kind, known.region, [at], _png(frame if frames else part))
            if len(found) > MAX_PICTURES:
                raise AuthoringError(
                    f"there are over {MAX_PICTURES} different pictures of {', '.join(regions)}; name one source with "
                    "--source, or make its region smaller"
                )
    return list(found.values())


async def ask(command: str, pictures: Sequence[Picture], answers: dict[int, Answer]) -> None:
    """Put what a program says of the pictures into ``answers``, by their places.

    Raises:
        AuthoringError: it can't be started, fails, says nothing for long, or what it says can't be used.
    """
    if not pictures:
        return
    words = _words(command)
    try:
        process = await asyncio.create_subprocess_exec(
            *words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=MAX_LINE_BYTES
        )
    except OSError as error:
        raise AuthoringError(f"{words[0]} can't be started: {error.strerror}; expected {_EXPECTED}") from error
    assert process.stdin is not None
    assert process.stdout is not None
    sending = asyncio.create_task(_send(process.stdin, pictures))
    try:
        while len(answers) < len(pictures):
            async with asyncio.timeout(ANSWER_S):
                line = await process.stdout.readline()
            if not line:
                status = await process.wait()
                raise AuthoringError(
                    f"{command} ended with status {status} after {len(answers)} of {len(pictures)} answers"
                )
            answer = _answer(command, line, pictures)
            answers[answer.id] = answer
    except TimeoutError:
        raise AuthoringError(f"{command} has said nothing for {ANSWER_S:g} s") from None
    except ValueError:  # of readline
        raise AuthoringError(f"{command} writes a line of over {MAX_LINE_BYTES} bytes") from None
    finally:
        sending.cancel()
        await asyncio.wait({sending})
        if process.returncode is None:
            process.kill()
        # Its end is noticed once what it has written is read.
        await process.communicate()


async def _send(pipe: asyncio.StreamWriter, pictures: Sequence[Picture]) -> None:
    try:
        for number, picture in enumerate(pictures):
            pipe.write(picture.line(number))
            await pipe.drain()
        pipe.close()
    except ConnectionError:
        # It has ended, which the reader of its answers tells.
        return


_EXPECTED: Final = f"{' or '.join(SHIPPED)}, or a program's command"


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise AuthoringError(f"{command!r} is no command: {error}; expected {_EXPECTED}") from None
    if not words:
        raise AuthoringError(f"expected {_EXPECTED}")
    return [sys.executable, "-m", f"{__package__}.{words[0]}"] if words[0] in SHIPPED else words


def _answer(command: str, line: bytes, pictures: Sequence[Picture]) -> Answer:
    text = line.decode(errors="replace").strip()
    try:
        answer = Answer.model_validate_json(line)
    except ValidationError as error:
        why = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors()[:3])
        raise AuthoringError(f'{command} answers {text!r:.200}; expected {{"id": 0, "value": 120}}: {why}') from None
    if answer.id >= len(pictures):
        raise AuthoringError(f"{command} answers {text!r:.200}, and no picture has that id")
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
        raise AuthoringError("no source is on the screen; name a region in runtime.toml for what is to be proposed")
    return visible


def _png(pixels: NDArray[np.uint8]) -> bytes:
    height, width, _ = pixels.shape
    image = Image.frombuffer("RGB", (width, height), np.ascontiguousarray(pixels), "raw", "BGRX", 0, 1)
    png = io.BytesIO()
    image.save(png, "png", compress_level=_PNG_LEVEL)
    return png.getvalue()
