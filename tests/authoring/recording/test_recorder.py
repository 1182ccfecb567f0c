"""A recorder on a real screen: what is drawn, said and pressed there comes out of its file again."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import numpy as np
import pytest
from pluriverse_authoring.recording.recorder import Recorder, RecordingFailed
from pluriverse_authoring.recording.replay import Moment, Replay
from pluriverse_protocol import reports
from pluriverse_protocol.env_spaces import Spaces
from pluriverse_protocol.events import KeyEvent, PointerEvent, RelativePointerEvent
from pluriverse_protocol.recording_file import PARTIAL, open_recording
from pluriverse_protocol.recordings import Header
from pluriverse_server.display.injector import Injector
from pluriverse_server.episode import Begin, Environment, Finished
from pluriverse_server.process import StartError
from support.desktop import Desktop
from support.full_disk import files_of_at_most
from support.rfb import RfbClient
from support.waiting import eventually

pytestmark = pytest.mark.display

WIDTH, HEIGHT = 320, 200
RED, BLUE, GREEN = (255, 0, 0), (0, 0, 255), (0, 255, 0)
COARSE_RED = (240, 0, 0)


@pytest.fixture
async def desktop() -> AsyncGenerator[Desktop]:
    desktop = await Desktop.start(WIDTH, HEIGHT)
    yield desktop
    await desktop.close()


def header(**changes: object) -> Header:
    values: dict[str, object] = {"width": WIDTH, "height": HEIGHT, "fps": 60.0, "began": time.time()} | changes
    return Header("toy", "1.2.3", "toy.First-v0", **values)  # pyright: ignore[reportArgumentType]


def environment(desktop: Desktop) -> dict[str, str]:
    return {"DISPLAY": desktop.display_name, "XAUTHORITY": "/nonexistent"}


def pixel(moment: Moment, x: int, y: int) -> tuple[int, int, int]:
    blue, green, red = moment.frame[y, x, :3].tolist()
    return red, green, blue


async def paint(desktop: Desktop, recorder: Recorder, colour: tuple[int, int, int]) -> None:
    before = recorder.updates
    desktop.fill(0, 0, WIDTH, HEIGHT, colour)
    await pictures(recorder, before + 1)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def pictures(recorder: Recorder, count: int) -> None:
    """Wait until the recorder has taken so many."""
    await eventually(lambda: recorder.updates >= count or recorder.failed.done())
    assert not recorder.failed.done(), recorder.failed.result()


async def test_what_was_drawn_said_and_pressed_comes_out_in_order(desktop: Desktop, tmp_path: Path) -> None:
    recorder = await Recorder.start(tmp_path / "a.plrec", header(), environment(desktop))
    await pictures(recorder, 1)
    recorder.on_output(Begin(1, Environment("toy.First-v0", options={"level": 3}), 7, 60.0))
    recorder.on_report(reports.Ready(1))
    for count, colour in enumerate((RED, BLUE, GREEN), 2):
        desktop.fill(10, 20, 30, 40, colour)
        await pictures(recorder, count)
        recorder.on_report(reports.Reward(1, float(count)))
        recorder.on_report(reports.Frame(1, count))
    recorder.on_output(Finished(1, "toy.First-v0", 9.0, 1.0, terminated=True, reason="won"))
    recorded = await recorder.stop()
    assert (recorded.path, recorded.updates) == (tmp_path / "a.plrec", 4)
    assert recorded.bytes == recorded.path.stat().st_size
    assert names(tmp_path) == ["a.plrec"]

    replay = Replay(recorded.path)
    assert (replay.header.runtime, replay.header.width) == ("toy", WIDTH)
    told = [(said, pixel(moment, 15, 25)) for moment in replay.moments() for _, said in moment.said]
    assert replay.ended is None
    assert [said.get("reward") for said, _ in told] == [None, None, 2.0, 3.0, 4.0, 9.0]
    assert [colour for _, colour in told][2:5] == [RED, BLUE, GREEN]
    begun = {"event": "begin", "episode": 1, "env": "toy.First-v0", "seed": 7, "fps": 60.0}
    assert told[0][0] == {**begun, "options": {"level": 3}}
    assert told[-1][0] == {
        "event": "end", "episode": 1, "reward": 9.0, "terminated": True, "truncated": False, "reason": "won",
    }  # fmt: skip


async def test_keys_and_pointer_are_recorded_whoever_presses_them(desktop: Desktop, tmp_path: Path) -> None:
    recorder = await Recorder.start(tmp_path / "a.plrec", header(), environment(desktop))
    injector = await asyncio.to_thread(Injector, desktop.display_name, Path("/nonexistent"))
    agents = [PointerEvent(30, 40, 1), PointerEvent(31, 41, 0), KeyEvent(ord("b"), True), KeyEvent(ord("b"), False)]
    await asyncio.to_thread(injector.apply, agents)
    await eventually(lambda: recorder.inputs >= 7)
    with await asyncio.to_thread(RfbClient, desktop.vnc_socket) as viewer:
        viewer.key(ord("a"), True)
        viewer.pointer(50, 60, 4)
        viewer.key(ord("a"), False)
        await eventually(lambda: recorder.inputs >= 11)
    await asyncio.to_thread(injector.close)
    recorded = await recorder.stop()
    events = [item.event for moment in Replay(recorded.path).moments() for item in moment.inputs]
    assert events[1:] == [
        PointerEvent(30, 40, 0),
        PointerEvent(30, 40, 1),
        PointerEvent(31, 41, 1),
        PointerEvent(31, 41, 0),
        *agents[2:],
        KeyEvent(ord("a"), True),
        PointerEvent(50, 60, 0),
        PointerEvent(50, 60, 4),
        KeyEvent(ord("a"), False),
    ]


async def test_of_a_pointer_that_is_grabbed_movements_are_recorded(desktop: Desktop, tmp_path: Path) -> None:
    spaces = Spaces(pointer=True, relative=True)
    recorder = await Recorder.start(tmp_path / "a.plrec", header(), environment(desktop), spaces=spaces)
    injector = await asyncio.to_thread(Injector, desktop.display_name, Path("/nonexistent"))
    moves = [RelativePointerEvent(-30, 40, 0), RelativePointerEvent(2, 0, 1)]
    await asyncio.to_thread(injector.apply, moves)
    await eventually(lambda: recorder.inputs >= 4)
    recorded = await recorder.stop()
    await asyncio.to_thread(injector.close)
    assert [item.event for moment in Replay(recorded.path).moments() for item in moment.inputs] == [
        RelativePointerEvent(0, 0, 0),
        moves[0],
        RelativePointerEvent(2, 0, 0),
        RelativePointerEvent(0, 0, 1),
    ]


async def test_of_regions_all_is_kept_and_of_the_rest_what_was_there_at_the_beginning_of_an_episode(
    desktop: Desktop, tmp_path: Path
) -> None:
    regions = ((0, 0, 50, 50),)
    recorder = await Recorder.start(tmp_path / "a.plrec", header(regions=regions), environment(desktop), keep="regions")
    await pictures(recorder, 1)
    await paint(desktop, recorder, RED)
    recorder.on_report(reports.Ready(1))
    await paint(desktop, recorder, BLUE)
    recorder.on_report(reports.Reward(1, 1.0))
    recorded = await recorder.stop()
    told = [
        (said["report"], pixel(moment, 5, 5), pixel(moment, 200, 100))
        for moment in Replay(recorded.path).moments()
        for _, said in moment.said
    ]
    assert told == [("ready", RED, COARSE_RED), ("reward", BLUE, COARSE_RED)]


async def test_a_full_disk_ends_the_recording_and_keeps_what_was_written(desktop: Desktop, tmp_path: Path) -> None:
    recorder = await Recorder.start(tmp_path / "a.plrec", header(), environment(desktop))
    noise = np.random.default_rng(0)
    desktop.fill(0, 0, 10, 10, RED)
    await pictures(recorder, 1)
    recorder.on_report(reports.Text(1, "first"))
    with files_of_at_most(300_000):
        while not recorder.failed.done():
            recorder.on_report(reports.Text(1, noise.bytes(50_000).hex()))
            await asyncio.sleep(0)
        with pytest.raises(
            RecordingFailed, match=r"File too large; to label and score .* saved: mv .*a\.plrec\.partial"
        ):
            await recorder.stop()
    replay = Replay(tmp_path / f"a.plrec{PARTIAL}")
    said = [said["text"] for moment in replay.moments() for _, said in moment.said]
    assert said[0] == "first"
    assert 2 <= len(said) <= 10
    assert replay.ended is not None


async def test_a_report_that_is_too_long_in_ascii_is_left_out_and_told(
    desktop: Desktop, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = await Recorder.start(tmp_path / "a.plrec", header(), environment(desktop))
    line = json.dumps({"report": "text", "episode": 1, "text": "é" * 500_000}, ensure_ascii=False).encode()
    with caplog.at_level(logging.WARNING):
        recorder.on_report(reports.decode_report(line))
    assert "not recorded: text is " in caplog.text
    recorder.on_report(reports.Text(1, "é"))
    recorded = await recorder.stop()
    assert [said["text"] for moment in Replay(recorded.path).moments() for _, said in moment.said] == ["é"]


async def test_a_screen_that_dies_ends_the_recording_with_the_reason(tmp_path: Path) -> None:
    desktop = await Desktop.start(WIDTH, HEIGHT)
    recorder = await Recorder.start(tmp_path / "a.plrec", header(), environment(desktop))
    await pictures(recorder, 1)
    await desktop.close()
    await eventually(recorder.failed.done)
    with pytest.raises(RecordingFailed, match="hung up"):
        await recorder.stop()
    assert len(list(open_recording(tmp_path / "a.plrec")[1])) >= 1


async def test_a_screen_of_another_size_is_refused(desktop: Desktop, tmp_path: Path) -> None:
    with pytest.raises(StartError, match="the screen is 320x200, and should be 640x200"):
        await Recorder.start(tmp_path / "a.plrec", header(width=640), environment(desktop))
    assert names(tmp_path) == []
