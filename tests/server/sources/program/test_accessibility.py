import os
import signal
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pluriverse_server.sources.program import accessibility
from pluriverse_server.sources.program.accessibility import MAX_WIDGETS, AccessibilityReader, all_widgets
from pluriverse_server.sources.program.bus import Bus, BusObject
from pluriverse_server.sources.reading import SourceError
from support.ports import listens
from support.program import running, target, until_value
from support.typist import Typist
from support.waiting import until
from support.widgets import GAME, Played, bus_for, playing, reader_of
from support.xvfb import xvfb

pytestmark = [pytest.mark.display, pytest.mark.skipif(not GAME.exists(), reason="gnome-2048 is not installed")]

UP, RIGHT, DOWN, LEFT = 0xFF52, 0xFF53, 0xFF54, 0xFF51
MOVES = (LEFT, DOWN, RIGHT, DOWN)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Generator[Played]:
    with playing(tmp_path_factory.mktemp("home")) as played:
        yield played


def score_on(played: Played) -> AccessibilityReader:
    return played.reader(role="label", name=r"^\d+$")


def test_score_of_2048_is_read_as_it_is_played(played: Played) -> None:
    reader = score_on(played)
    until_value(reader, 0)
    scores = [0]
    with Typist(played.screen.name) as typist:

        def move() -> int:
            key = MOVES[len(scores) % len(MOVES)]
            typist.down(key)
            typist.up(key)
            value = reader.read().value
            assert isinstance(value, int)
            scores.append(value)
            return value

        until(move, lambda score: score >= 20)
    assert scores == sorted(scores)
    assert all(score % 4 == 0 for score in scores)
    reader.close()


def test_widget_is_found_by_role_name_and_index(played: Played) -> None:
    # A role has two names.
    sizes = [
        played.reader(role=role, name=r"^\d . \d$", pattern=r"(?P<value>\d)", index=index)
        for index, role in enumerate(("push button", "button", "push button", "button"))
    ]
    until_value(sizes[0], 3)
    assert [reader.read().value for reader in sizes] == [3, 4, 5, None]
    frame = played.reader(role="frame")
    until_value(frame, "GNOME 2048")
    named = played.reader(role="frame", pattern="Chess")
    until_value(named, False)
    for reader in (*sizes, frame, named):
        reader.close()


def test_frozen_program_costs_a_second_and_its_value_until_it_goes_on(played: Played) -> None:
    reader = played.reader(role="frame")
    until_value(reader, "GNOME 2048")
    assert played.program is not None
    os.kill(played.program.pid, signal.SIGSTOP)
    try:
        sample = reader.read()
    finally:
        os.kill(played.program.pid, signal.SIGCONT)
    assert sample.value is None
    assert sample.lag_s >= 1.0
    until_value(reader, "GNOME 2048")
    reader.close()


def test_program_that_ends_has_no_value_and_the_next_one_is_found(played: Played) -> None:
    reader = score_on(played)
    until(reader.read, lambda sample: sample.value is not None)
    played.stop()
    until(reader.read, lambda sample: sample.value is None)
    played.start()
    until_value(reader, 0)
    reader.close()


def test_program_without_a_bus_is_an_error_that_says_how_it_gets_one(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"set accessibility = true in \[program\]"):
        reader_of(target(tmp_path, environment={"HOME": "/"}), role="label").read()


def test_button_below_a_table_with_more_cells_than_are_looked_through_is_found(tmp_path: Path) -> None:
    with xvfb() as screen, bus_for(tmp_path, {**screen.environment, "HOME": str(tmp_path)}) as bus:
        environment = {**screen.environment, "HOME": str(tmp_path), **bus.environment}
        rows = [str(number) for number in range(MAX_WIDGETS)]
        with running(["yad", "--list", "--column=Number", *rows], environment):
            for role, name in (("push button", "^OK$"), ("table cell", "^0$")):
                reader = reader_of(target(tmp_path, environment=environment), role=role, name=name)
                until_value(reader, 0 if name == "^0$" else "OK")
                reader.close()


def test_readers_of_one_program_look_through_its_widgets_together(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[float] = []

    def counted(bus: Bus, deadline: float) -> Iterator[tuple[BusObject, str, BusObject | None]]:
        looks.append(deadline)
        return all_widgets(bus, deadline)

    first = played.reader(role="frame")
    until_value(first, "GNOME 2048")
    monkeypatch.setattr(accessibility, "all_widgets", counted)
    readers = [played.reader(role="push button", name=r"^\d . \d$", index=index) for index in range(3)]
    with ThreadPoolExecutor(len(readers)) as threads:
        until(lambda: [sample.value for sample in threads.map(AccessibilityReader.read, readers)], all)
    assert len(looks) < len(readers)
    # One that leaves takes nothing from the others.
    first.close()
    assert readers[0].read().value
    for reader in readers:
        reader.close()


def test_accessibility_bus_of_an_ordinary_session_is_asked_for(tmp_path: Path) -> None:
    address = f"unix:path={tmp_path / 'session'}"
    with xvfb() as screen:
        environment = {**screen.environment, "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
        environment |= {"DBUS_SESSION_BUS_ADDRESS": address, "GSETTINGS_BACKEND": "memory"}
        reader = reader_of(target(tmp_path, environment=environment), role="frame")
        session = ["dbus-daemon", "--session", f"--address={address}", "--nofork"]
        with running(session, environment), running([str(GAME)], environment):
            until(lambda: listens(tmp_path / "session"))
            until_value(reader, "GNOME 2048")
            reader.close()
