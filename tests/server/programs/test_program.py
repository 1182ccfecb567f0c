"""The program's keeper, with real programs that behave well and badly."""

import asyncio
import json
import os
import signal
import site
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import psutil
import pytest
from pluriverse_protocol.reports import Delivered, Frame, Lost, Ready, Report, Text
from pluriverse_server.episode import Begin, Environment
from pluriverse_server.manifest.runtime import EnvTable, Manifest
from pluriverse_server.programs.program import SOCKET_NAME, STEP_CHANNEL_NAME, Program
from support import sessions
from support.leftovers import Leftovers
from support.waiting import DEADLINE_S, eventually

PRELUDE = """
import json, os, signal, socket, sys, time
print("started with", *sys.argv[1:], flush=True)
daemon = socket.socket(socket.AF_UNIX)
daemon.connect(os.environ["PLURIVERSE_SOCKET"])
lines = daemon.makefile()
def say(**report):
    daemon.sendall(json.dumps(report).encode() + b"\\n")
def reset():
    while (request := json.loads(lines.readline()))["request"] != "reset":
        pass
    return request
"""

# Ready for each episode; says what it is told in a text.
OBEDIENT = """
for line in lines:
    request = json.loads(line)
    if request["request"] == "stop":
        sys.exit(0)
    if request["request"] == "reset":
        episode = request["episode"]
        say(report="ready", episode=episode, joystick=True)
    say(report="text", episode=episode, text=json.dumps({"pid": os.getpid(), "argv": sys.argv[1:], **request}))
"""

# The same, and answers on each step channel.
TAKES_STEP_CHANNELS = (
    """
import threading
from pluriverse_protocol.step_channel import HANDOVER_BYTES
step_channels = socket.socket(socket.AF_UNIX)
step_channels.connect(os.environ["PLURIVERSE_STEP_CHANNEL"])
def take():
    while True:
        descriptors = socket.recv_fds(step_channels, HANDOVER_BYTES, 1)[1]
        socket.socket(fileno=descriptors[0]).sendall(b"taken")
threading.Thread(target=take, daemon=True).start()
"""
    + OBEDIENT
)

DEAF = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nsay(report='ready', episode=reset()['episode'])\n"
SLEEP = "time.sleep(600)\n"


class Stage:
    """A program in its keeper, and what the keeper tells."""

    def __init__(self, directory: Path, text: str, **changed: Any) -> None:
        (directory / "game.py").write_text(PRELUDE + text)
        table: dict[str, Any] = {"command": ["python", "game.py", "{env}", "{seed}", "{fps}"], **changed}
        reset, runtime = table.pop("reset", "report"), table.pop("runtime", {})
        manifest = Manifest.model_validate(
            {
                "runtime": {"id": "toy", "version": "1.2.3", "title": "", "default_env": "a", **runtime},
                "program": table,
                "reset": {"by": reset},
                "rewards": [{"source": "reports"}],
                "envs": [{"id": "a"}],
            }
        )
        self.reports: list[Report] = []
        self.losses: list[Lost] = []
        self.again: Begin | None = None
        catalogue = {name: EnvTable(id=name) for name in ("a", "b")}
        self.program = Program(directory, manifest, catalogue, directory, self.reports.append, self._lost)

    def begin(self, episode_id: int, env_id: str = "a", seed: int = 7, **changed: Any) -> Begin:
        begin = Begin(episode_id, Environment(env_id, **changed), seed, 60.0)
        self.program.begin(begin)
        return begin

    async def until(self, report: Report) -> None:
        await eventually(lambda: report in self.reports)

    async def until_told(self, count: int) -> dict[str, Any]:
        """What the obedient program said of its ``count``-th request."""
        await eventually(lambda: len(self._texts()) >= count)
        return self._texts()[count - 1]

    async def until_lost(self) -> Lost:
        await eventually(lambda: self.losses)
        return self.losses[0]

    def _texts(self) -> list[dict[str, Any]]:
        return [json.loads(report.text) for report in self.reports if isinstance(report, Text)]

    def _lost(self, lost: Lost) -> None:
        self.losses.append(lost)
        if self.again is not None:
            again, self.again = self.again, None
            self.program.begin(again)


@asynccontextmanager
async def staged(directory: Path, text: str, *, screen: bool = True, **changed: Any) -> AsyncGenerator[Stage]:
    stage = Stage(directory, text, **changed)
    await stage.program.start()
    if screen:
        stage.program.put_on({})
    try:
        yield stage
    finally:
        await stage.program.stop()
        assert stage.program.pid is None
        assert not (directory / SOCKET_NAME).exists()
        assert not (directory / STEP_CHANNEL_NAME).exists()
        await eventually(lambda: not Leftovers.descendants())


def ready(episode: int) -> Ready:
    return Ready(episode, joystick=True)


# ── episodes ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_program_has_the_language_the_zone_and_the_variables_of_its_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in sessions.VARIABLES.items():
        monkeypatch.setenv(name, value)
    runtime, env = {"lang": "fr_FR.UTF-8", "tz": "Asia/Tokyo"}, {"SAID": "hello", "GDK_SCALE": "1"}
    async with staged(tmp_path, OBEDIENT, runtime=runtime, env=env) as stage:
        stage.begin(1)
        told = psutil.Process((await stage.until_told(1))["pid"]).environ()
    assert {name: told[name] for name in ("LANG", "TZ", *env)} == {"LANG": "fr_FR.UTF-8", "TZ": "Asia/Tokyo", **env}
    assert not told.keys() & (sessions.VARIABLES.keys() - {"LANG", "TZ", *env})


async def test_program_has_a_home_of_its_own_which_goes_with_it(tmp_path: Path) -> None:
    async with staged(tmp_path, OBEDIENT, reset="restart") as stage:
        stage.begin(1)
        told = psutil.Process((await stage.until_told(1))["pid"]).environ()
        home = Path(told["HOME"])
        assert home.is_relative_to(tmp_path)
        assert {told["TMPDIR"], told["XDG_CONFIG_HOME"]} == {f"{home}/.tmp", f"{home}/.config"}
        assert told["PYTHONUSERBASE"] == site.getuserbase()
        (home / ".config" / "settings").touch()
        stage.begin(2)
        after = Path(psutil.Process((await stage.until_told(2))["pid"]).environ()["HOME"])
        await eventually(lambda: not list((after / ".config").iterdir()))
        await eventually(lambda: not home.exists())
    await eventually(lambda: not after.exists())


async def test_program_is_started_by_the_first_episode_and_told_all_of_it(tmp_path: Path) -> None:
    async with staged(tmp_path, OBEDIENT) as stage:
        assert stage.program.pid is None
        stage.begin(3, "b", seed=9)
        told = await stage.until_told(1)
        assert told == {
            "pid": stage.program.pid,
            "argv": ["b", "9", "60.0"],
            "request": "reset",
            "episode": 3,
            "env": "b",
            "seed": 9,
            "fps": 60.0,
            "options": {},
        }
        assert stage.reports[0] == ready(3)
        assert stage.program.takes_joystick
        assert stage.losses == []


async def test_program_that_is_asked_for_episodes_goes_on_living(tmp_path: Path) -> None:
    async with staged(tmp_path, OBEDIENT) as stage:
        stage.program.send(Delivered(1, 2.5))
        stage.begin(1)
        first = await stage.until_told(1)
        stage.begin(2, "b")
        second = await stage.until_told(2)
        assert (second["pid"], second["env"]) == (first["pid"], "b")
        assert second["argv"] == first["argv"]
        stage.program.send(Delivered(1, 2.5))
        assert (await stage.until_told(3))["sent_at"] == 2.5


async def test_program_that_is_restarted_for_episodes_is_another_each_time(tmp_path: Path) -> None:
    async with staged(tmp_path, OBEDIENT, reset="restart") as stage:
        stage.begin(1, "a", seed=1)
        first = await stage.until_told(1)
        stage.begin(2, "b", seed=2)
        second = await stage.until_told(2)
        assert second["pid"] != first["pid"]
        assert (first["argv"][:2], second["argv"][:2]) == (["a", "1"], ["b", "2"])
        assert (second["env"], second["episode"]) == ("b", 2)
        assert stage.losses == []


async def test_of_episodes_asked_for_at_once_the_last_is_played(tmp_path: Path) -> None:
    async with staged(tmp_path, OBEDIENT, reset="restart") as stage:
        for episode in range(1, 6):
            stage.begin(episode, seed=episode)
            await asyncio.sleep(0)
        await stage.until(ready(5))
        told = await stage.until_told(1)
        assert (told["episode"], told["argv"][1]) == (5, "5")
        assert stage.losses == []


async def test_episode_asked_for_while_the_program_starts_is_the_one_that_it_is_told(tmp_path: Path) -> None:
    waiting = f"while ! [ -e go ]; do sleep 0.01; done; exec {sys.executable} game.py"
    async with staged(tmp_path, OBEDIENT, command=["sh", "-c", waiting]) as stage:
        stage.begin(1)
        await eventually(lambda: stage.program.pid)
        stage.begin(2)
        (tmp_path / "go").touch()
        await stage.until(ready(2))
        assert (await stage.until_told(1))["episode"] == 2


# ── lockstep ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_time_limit_is_the_programs_own_only_in_lockstep(tmp_path: Path) -> None:
    async with staged(tmp_path, OBEDIENT) as stage:
        for episode, clock, limit in ((1, "realtime", None), (2, "lockstep", 2.5), (3, "realtime", None)):
            stage.begin(episode, time_limit_s=2.5, clock=clock)
            told = await stage.until_told(episode)
            assert (told.get("clock", "realtime"), told.get("time_limit_s")) == (clock, limit)


async def test_step_channels_go_to_the_program_while_it_is_there(tmp_path: Path) -> None:
    async with staged(tmp_path, TAKES_STEP_CHANNELS) as stage:
        assert not stage.program.step_channels.connected
        stage.begin(1, clock="lockstep")
        await stage.until(ready(1))
        await eventually(lambda: stage.program.step_channels.connected)
        mine, theirs = socket.socketpair()
        with mine, theirs:
            stage.program.step_channels.hand_over(theirs)
            theirs.close()
            assert await asyncio.to_thread(mine.recv, 5) == b"taken"
        pid = stage.program.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        await stage.until_lost()
        assert not stage.program.step_channels.connected
        mine, theirs = socket.socketpair()
        with mine, theirs, pytest.raises(ConnectionError, match="the program isn't running"):
            stage.program.step_channels.hand_over(theirs)


# ── losing it ───────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_program_that_is_killed_is_lost_and_another_begins_where_it_is_asked_to(tmp_path: Path) -> None:
    async with staged(tmp_path, OBEDIENT) as stage:
        stage.begin(1)
        first = await stage.until_told(1)
        stage.again = Begin(2, Environment("b"), 8, 60.0)
        os.kill(first["pid"], signal.SIGKILL)
        assert (await stage.until_lost()).reason == "program killed by SIGKILL"
        await stage.until(ready(2))
        assert (await stage.until_told(2))["pid"] != first["pid"]
        assert len(stage.losses) == 1


@pytest.mark.parametrize("text", ["1 / 0", "reset(); 1 / 0", "daemon.close(); 1 / 0"])
async def test_program_that_crashes_is_lost_once_and_its_last_words_are_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    async with staged(tmp_path, text) as stage:
        stage.begin(1)
        lost = await stage.until_lost()
        assert lost.reason in ("program exit status 1", "the program closed the connection")
        if lost.reason == "program exit status 1":
            assert "    started with a 7 60.0\n" in caplog.text
            assert "    ZeroDivisionError: division by zero\n" in caplog.text
        assert len(stage.losses) == 1


@pytest.mark.parametrize("text", ["", "say(report='ready', episode=reset()['episode'] - 1)\n"])
async def test_program_that_is_never_ready_for_its_episode_is_lost(tmp_path: Path, text: str) -> None:
    async with staged(tmp_path, text + SLEEP, ready={"timeout_s": 0.5}) as stage:
        stage.begin(1)
        assert (await stage.until_lost()).reason == "program was not ready within 0.5 s"


async def test_stop_waits_until_a_program_that_was_to_make_room_for_another_is_reaped(tmp_path: Path) -> None:
    async with staged(tmp_path, DEAF + SLEEP, reset="restart") as stage:
        stage.begin(1)
        await stage.until(Ready(1))
        stage.begin(2)
        await eventually(lambda: stage.program.pid is None)
    # What waits for its end is a task.
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_program_that_was_ready_in_time_is_not_lost_later(tmp_path: Path) -> None:
    text = "say(report='ready', episode=reset()['episode'])\ntime.sleep(2.5)\n"
    text += "say(report='text', episode=1, text='later')\n"
    async with staged(tmp_path, text + SLEEP, ready={"timeout_s": 2.0}) as stage:
        stage.begin(1)
        await stage.until(Text(1, "later"))
        assert stage.losses == []


async def test_program_that_hangs_up_and_lives_on_is_lost(tmp_path: Path) -> None:
    async with staged(tmp_path, "reset(); lines.close(); daemon.close()\n" + SLEEP) as stage:
        stage.begin(1)
        assert (await stage.until_lost()).reason == "the program closed the connection"


async def test_program_that_stops_drawing_is_lost(tmp_path: Path) -> None:
    text = "e = reset()['episode']\nsay(report='ready', episode=e)\nsay(report='frame', episode=e, frames=1)\n"
    async with staged(tmp_path, text + SLEEP, frozen_after_s=5) as stage:
        stage.begin(1)
        await stage.until(Frame(1, 1))
        pid = stage.program.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        now = asyncio.get_running_loop().time()
        stage.program.check_frozen(now + 4)
        assert stage.losses == []
        stage.program.check_frozen(now + 6)
        assert (await stage.until_lost()).reason == "program froze: no frame for 5 s"
        stage.program.check_frozen(now + 60)
        assert len(stage.losses) == 1


@pytest.mark.parametrize(("clock", "frames"), [("realtime", 0), ("lockstep", 1)])
async def test_program_that_reports_no_frames_or_stands_still_in_lockstep_is_not_frozen(
    tmp_path: Path, clock: Literal["realtime", "lockstep"], frames: int
) -> None:
    text = "e = reset()['episode']\nsay(report='ready', episode=e)\n"
    text += "say(report='frame', episode=e, frames=1)\n" * frames
    async with staged(tmp_path, text + SLEEP) as stage:
        stage.begin(1, clock=clock)
        await stage.until(Frame(1, 1) if frames else Ready(1))
        stage.program.check_frozen(asyncio.get_running_loop().time() + 3600)
        assert stage.losses == []


async def test_late_frame_of_the_last_episode_makes_no_slow_reset_look_frozen(tmp_path: Path) -> None:
    text = "say(report='ready', episode=reset()['episode'])\nreset()\nsay(report='frame', episode=1, frames=9)\n"
    async with staged(tmp_path, text + SLEEP) as stage:
        stage.begin(1)
        await stage.until(Ready(1))
        stage.begin(2)
        await stage.until(Frame(1, 9))
        stage.program.check_frozen(asyncio.get_running_loop().time() + 60)
        assert stage.losses == []


async def test_program_that_cannot_be_started_is_lost_with_the_reason(tmp_path: Path) -> None:
    for command, reason in (
        (["./no-such-program"], "'./no-such-program' is missing or not executable"),
        (["python", "{env.level}"], "environment 'a' lacks the key 'env.level'"),
        (["python", "a\0b"], "program could not be started"),
    ):
        async with staged(tmp_path, OBEDIENT, command=command) as stage:
            stage.begin(1)
            lost = await stage.until_lost()
            assert lost.reason.startswith("program could not be started: ")
            assert reason in lost.reason


# ── the screen comes and goes ───────────────────────────────────────────────────────────────────────────────────────


async def test_program_waits_for_its_screen(tmp_path: Path) -> None:
    async with staged(tmp_path, OBEDIENT, screen=False) as stage:
        stage.begin(1)
        assert stage.program.pid is None
        stage.program.put_on({})
        await stage.until(ready(1))


async def test_program_whose_screen_is_gone_is_ended_without_being_lost(tmp_path: Path) -> None:
    async with staged(tmp_path, OBEDIENT) as stage:
        stage.begin(1)
        first = await stage.until_told(1)
        await stage.program.take_off()
        assert stage.program.pid is None
        stage.begin(2)
        stage.program.put_on({})
        assert (await stage.until_told(2))["pid"] != first["pid"]
        assert stage.losses == []


@pytest.mark.parametrize("moments", [0, 2, 5, 10])
async def test_screen_that_goes_while_the_program_starts_takes_it_along(tmp_path: Path, moments: int) -> None:
    async with staged(tmp_path, OBEDIENT) as stage:
        stage.begin(1)
        for _ in range(moments):
            await asyncio.sleep(0)
        await stage.program.take_off()
        await eventually(lambda: not Leftovers.descendants())
        assert stage.program.pid is None
        stage.program.put_on({})
        await stage.until(ready(1))
        assert stage.losses == []


async def test_screen_that_goes_while_the_program_is_restarted_keeps_it_from_starting(tmp_path: Path) -> None:
    async with staged(tmp_path, DEAF + SLEEP, reset="restart") as stage:
        stage.begin(1)
        await stage.until(Ready(1))
        stage.begin(2)
        # The keeper now waits for the old one, which is deaf, to end.
        await eventually(lambda: stage.program.pid is None)
        await stage.program.take_off()
        await eventually(lambda: not Leftovers.descendants())
        stage.program.put_on({})
        await stage.until(Ready(2))
        assert stage.losses == []


# ── stopping ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_stop_asks_first(tmp_path: Path) -> None:
    text = (
        "say(report='ready', episode=reset()['episode'])\n"
        "if json.loads(lines.readline())['request'] == 'stop':\n"
        "    open('asked', 'w').close()\n"
    )
    async with staged(tmp_path, text) as stage:
        stage.begin(1)
        await stage.until(Ready(1))
    assert (tmp_path / "asked").exists()
    assert stage.losses == []


@pytest.mark.parametrize("moments", [0, 2, 5, 10])
async def test_stop_may_come_while_the_program_starts(tmp_path: Path, moments: int) -> None:
    async with staged(tmp_path, OBEDIENT) as stage:
        stage.begin(1)
        for _ in range(moments):
            await asyncio.sleep(0)
        await asyncio.wait_for(stage.program.stop(), DEADLINE_S)
    assert stage.losses == []
