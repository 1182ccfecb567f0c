"""An agent that is a program: it reads what is seen and writes what it does, each as a line of JSON.

It reads ``{"task", "asks", "width", "height", "clock"}`` when an episode begins, then for each decision ``{"image",
"media_type", "text", "reward", "ms"}``, and ``{"over": HOW}`` in the end. It answers each picture with one of
``{"calls": [CALL, …]}``, as MCP's clients make them; ``{"action": A, "frames": N}`` in the environment's own space; and
``{}``, to let a frame pass. What can't be done it reads as ``{"error": WHY}``, and answers that instead.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import shlex
import signal
import subprocess
import time
from typing import Any, Final

from pluriverse.adapters.computer import calls
from pluriverse.adapters.computer.acts import MAX_BATCH
from pluriverse.errors import ActionError, ConfigurationError, ResetNeeded
from pluriverse_protocol.strict_json import parse
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pluriverse_eval.play import Play

from .agent import AgentFailed, Hold, do

# An agent may think for so long; a line of it may be so long.
ANSWER_S: Final = 600.0
MAX_LINE_BYTES: Final = 1024 * 1024

# So many wrong answers to one picture, and it is given up.
MAX_ERRORS: Final = 10

LEAVE_S: Final = 1.0
END_S: Final = 5.0


class CommandAgent:
    """Runs the program for all episodes of a worker; after one that it failed it is started again."""

    def __init__(self, words: str) -> None:
        self._words = words
        self._program: Program | None = Program(words)

    def play(self, play: Play) -> None:
        """Play until the episode is over; raise AgentFailed if the program doesn't answer, or ends."""
        program = self._program or Program(self._words)
        try:
            self._program = None
            _play(play, program)
            self._program = program
        finally:
            if self._program is None:
                program.close()

    def close(self) -> None:
        if self._program is not None:
            self._program.close()


def _play(play: Play, program: Program) -> None:
    size = {"width": play.view.width, "height": play.view.height}
    program.write({"task": play.task.name, "asks": play.task.asks, **size, "clock": play.clock})
    while not play.over:
        image, status = play.seen(), play.standing()
        seen = {"image": base64.b64encode(image.data).decode(), "media_type": image.media_type}
        program.write({**seen, "text": status.text, "reward": status.reward, "ms": play.ms})
        # It may be over in the middle of what is done.
        with contextlib.suppress(ResetNeeded):
            _answer(play, program)
    program.write({"over": play.ended})


def _answer(play: Play, program: Program) -> None:
    for _ in range(MAX_ERRORS):
        try:
            do(play, read(program.read()))
        except ActionError as error:
            program.write({"error": str(error)})
        else:
            return
    raise AgentFailed(f"{MAX_ERRORS} answers to one picture were invalid")


class Program:
    """A process that is spoken with in JSON lines."""

    def __init__(self, words: str) -> None:
        try:
            self._process = subprocess.Popen(
                shlex.split(words), bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"--agent command:{words}: it can't be started: {error}") from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin, self._process.stdout
        for pipe in (self._to, self._from):
            os.set_blocking(pipe.fileno(), False)
        self._left = b""

    def write(self, message: dict[str, Any]) -> None:
        """Write a line; raise AgentFailed if it has ended, or doesn't read it in time."""
        left = memoryview(json.dumps(message).encode() + b"\n")
        deadline = time.monotonic() + ANSWER_S
        try:
            while left:
                if not select.select([], [self._to], [], max(0.0, deadline - time.monotonic()))[1]:
                    raise AgentFailed(f"the program has not read for {ANSWER_S:g} s")
                left = left[self._to.write(left) or 0 :]
        except OSError as error:
            raise AgentFailed(f"the program has ended, with status {self._process.poll()}") from error

    def read(self) -> Any:
        deadline = time.monotonic() + ANSWER_S
        while b"\n" not in self._left and len(self._left) <= MAX_LINE_BYTES:
            left = deadline - time.monotonic()
            if left <= 0:
                raise AgentFailed(f"the program has not written for {ANSWER_S:g} s")
            select.select([self._from], [], [], left)
            chunk = self._from.read()
            if chunk == b"":
                raise AgentFailed(f"the program has ended, with status {self._process.poll()}")
            self._left += chunk or b""
        line, _, self._left = self._left.partition(b"\n")
        if len(line) > MAX_LINE_BYTES:
            raise AgentFailed(f"the program wrote a line of more than {MAX_LINE_BYTES} bytes")
        try:
            return parse(line)
        except ValueError as error:
            raise ActionError(f"{line[:80]!r} isn't JSON: {error}") from error

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._to.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            # There is nothing more to read, by which it may end by itself.
            self._process.wait(LEAVE_S)
        stop(self._process)
        self._from.close()


class Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    calls: list[Any] | None = Field(default=None, max_length=MAX_BATCH)
    action: Any = None
    frames: int = Field(default=1, ge=1, le=MAX_BATCH)


def read(answer: Any) -> Any:
    """Return what an answer asks for, as ``agent.do`` takes it; raise ActionError if it is no action."""
    try:
        asked = Answer.model_validate(answer)
    except ValidationError as error:
        raise ActionError(f"{answer!r:.80} isn't an answer: {error.errors()[0]['msg']}") from error
    if asked.calls is not None:
        return [calls.read(call) for call in asked.calls]
    return None if asked.action is None else Hold(asked.action, asked.frames)


def stop(process: subprocess.Popen[bytes]) -> None:
    """End a process that leads a group, and its group: kindly at first."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(END_S)
        except ProcessLookupError:
            process.wait()
            return
        except subprocess.TimeoutExpired:
            continue
