"""A real program on a real remote is recorded, and scored against what it says itself that it did."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest
from pluriverse_protocol import reports
from pluriverse_protocol.recordings import Header, Said
from pluriverse_server.authoring.labels import LabelledEpisode, Labels, labels_path, write_table
from pluriverse_server.authoring.score import score
from pluriverse_server.episode import Finished, Output
from pluriverse_server.manifest.runtime import Manifest
from pluriverse_server.recording.file import open_recording
from pluriverse_server.recording.recorder import Recorder
from pluriverse_server.remote.remote import Remote
from pluriverse_server.settings import Settings
from rich.console import Console
from support.ports import free_port
from support.waiting import eventually

pytestmark = pytest.mark.display

MANIFEST = """
[runtime]
id = "bars"
version = "1.0.0"
title = "Bars"
default_env = "bars.Bars-v0"
screen = { width = 320, height = 240 }
[program]
command = ["python", "game.py", "truth.jsonl"]
[reset]
by = "restart"
[sources.points]
from = "screen"
read = "bar"
region = [10, 10, 100, 8]
colour = "#00ff00"
[sources.over]
from = "screen"
read = "colour"
region = [10, 100, 20, 20]
colour = "#ff0000"
[[rewards]]
source = "points"
scale = 100
[episode]
ready = "points == 0"
done = { lost = "over > 0.5" }
[[envs]]
id = "bars.Bars-v0"
"""

# What it reports itself, where it is heard as well.
HEARD = """
[[rewards]]
source = "reports"
"""

# Five points, seven each; then it is over. What moves below is none of a source's business. If it is heard, there is a
# bonus of which it says so itself, once its window is there and it was asked for an episode.
GAME = """
import json, os, socket, sys, time
import numpy as np
from pluriverse_server.kit import Pacer, Window

daemon, episode = None, 0


def say(**report):
    if daemon is not None:
        daemon.sendall(json.dumps({"episode": episode, **report}).encode() + b"\\n")


with Window(320, 240, title="Bars") as window, open(sys.argv[1], "a") as truth:
    if place := os.environ.get("PLURIVERSE_SOCKET"):
        daemon = socket.socket(socket.AF_UNIX)
        daemon.connect(place)
        episode = json.loads(daemon.makefile().readline())["episode"]
    say(report="ready")
    region = window.image(0, 0, 320, 240)
    picture = np.frombuffer(region.memory, np.uint8).reshape(240, 320, 4)
    pacer = Pacer(60, time.monotonic())
    for frame in range(10_000):
        points = min(max(frame - 60, 0) // 12, 5)
        picture[:] = 0
        picture[10:18, 10:10 + 7 * points] = (0, 255, 0, 0)
        picture[200:220, frame % 300:frame % 300 + 20] = (frame % 256, 99, 200, 0)
        if frame >= 140:
            picture[100:120, 10:30] = (0, 0, 255, 0)
        window.put(region)
        bonus = daemon is not None and frame >= 100
        if bonus and frame == 100:
            say(report="reward", reward=50, at=time.time())
        print(json.dumps([time.time(), points, frame >= 140, bonus]), file=truth, flush=True)
        time.sleep(max(0.0, pacer.next_due - time.monotonic()))
        pacer.take(time.monotonic())
"""


class Listener:
    """Hands everything to the recorder, and counts the episodes that have ended."""

    def __init__(self, recorder: Recorder) -> None:
        self.ended = 0
        self._recorder = recorder

    def on_report(self, report: reports.Report) -> None:
        self._recorder.on_report(report)

    def on_output(self, output: Output) -> None:
        self.ended += isinstance(output, Finished)
        self._recorder.on_output(output)


async def record(directory: Path, path: Path) -> Header:
    """Run the runtime until two episodes have been recorded from their beginning."""
    settings = Settings(directory, password="bars", vnc_port=free_port(), rewarder_port=free_port())
    remote = Remote(settings)
    started: asyncio.Future[Manifest] = asyncio.get_running_loop().create_future()
    running = asyncio.create_task(remote.run(started.set_result))
    try:
        await asyncio.wait({running, started}, return_when=asyncio.FIRST_COMPLETED)
        regions = ((10, 10, 100, 8), (10, 100, 20, 20))
        header = Header("bars", "1.0.0", "bars.Bars-v0", 320, 240, 60.0, time.time(), regions)
        recorder = await Recorder.start(path, header, remote.screen.environment, keep="regions")
        listener = Listener(recorder)
        remote.service.subscribers.append(listener)
        try:
            await eventually(lambda: listener.ended >= 3)
        finally:
            remote.service.subscribers.clear()
            await recorder.stop()
    finally:
        remote.stop()
        await running
    return header


def truth(directory: Path, header: Header, path: Path) -> Labels:
    """What the program itself says of what it drew; only when episodes were ready is not for it to say."""
    lines = [json.loads(line) for line in (directory / "truth.jsonl").read_text().splitlines()]
    records = open_recording(path)[1]
    begins = [one.at for one in records if isinstance(one, Said) and one.said.get("report") == "ready"]
    ends: list[float] = []
    rewards: list[tuple[float, float]] = []
    points_before, over_before, bonus_before = 0, True, False
    for at, points, over, bonus in lines:
        since = at - header.began
        if since > begins[0]:
            ends += [since] if over and not over_before else []
            rewards += [(since, 7.0 * (points - points_before))] if points > points_before else []
            rewards += [(since, 50.0)] if bonus and not bonus_before else []
        points_before, over_before, bonus_before = points, over, bonus
    episodes = [
        LabelledEpisode(begin=begin, end=end, done="terminated", reason="lost")
        for begin, end in zip(begins, ends, strict=False)
    ]
    episodes += [LabelledEpisode(begin=begin) for begin in begins[len(ends) :]]
    return Labels(recording=path.name, episodes=episodes, rewards=rewards)


@pytest.mark.parametrize(("heard", "earned"), [("", 35.0), (HEARD, 85.0)])
async def test_what_is_scraped_of_a_recording_is_what_the_program_did(
    tmp_path: Path, heard: str, earned: float
) -> None:
    (tmp_path / "runtime.toml").write_text(MANIFEST + heard)
    (tmp_path / "game.py").write_text(GAME)
    path = tmp_path / "a.plrec"
    header = await record(tmp_path, path)
    labels = truth(tmp_path, header, path)
    assert len(labels.episodes) >= 2
    write_table(labels_path(path), labels)
    status = await asyncio.to_thread(score, tmp_path, [path], console=Console(quiet=True))
    report = json.loads((tmp_path / "a.report.json").read_text())
    assert report["disagreements"] == []
    assert status == 0
    assert [episode["scraped"] for episode in report["episodes"]][:2] == [earned, earned]
