"""What all tests share: settings, one marker for each test, and a word about those that were left out."""

from __future__ import annotations

import functools
import inspect
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import settings

# Nothing is judged by its speed: other tests may share the machine.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

# Jobs that a shell runs in the background ignore Ctrl-C, and hand that on to every program that they start. The tests
# that press it mean programs started by a person.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# From the cheapest to the dearest; each test has one.
MARKERS: Final = ("unit", "display", "browser", "rllib", "container")
# Those that `make test` leaves out.
LEFT_OUT: Final = ("rllib", "container")
# Takes hours: it is run where it is asked for.
NIGHTLY: Final = "nightly"

# A test starts a display or a browser if its module, or one of its fixtures, has one of these words.
WORDS: Final = {
    "browser": r"\b(Chromium|Browser|page_remote|PageRemote|make_remote|stepped)\b",
    "display": r"\b(make_screen|[Xx]vfb|x_server|Xtigervnc|Desktop|free_games|LocalEngine|open_pool|on_machine)\b"
    r"|\b(scraping|Remote)\b|local:[1-9]|\bstarted\(",
}
# By which programs it is seen that a test did.
PROGRAMS: Final = {"Xvfb": "display", "Xtigervnc": "display", "Xephyr": "display", "chromium": "browser"}

# Where `make test-all` says that the images were built: the file's text is what went wrong.
BUILT: Final = "PLURIVERSE_IMAGES_BUILT"
LOOK_S: Final = 0.5

started: set[str] = set()
left_out = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    """Give each worker of pytest-xdist its own folder for temporary files, so that a test sees only what it left there.

    Its path is short, as those of sockets have to be.
    """
    config.stash[left_out] = 0
    if hasattr(config, "workerinput"):
        folder = tempfile.mkdtemp(prefix="pv-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        config.option.basetemp = Path(folder, "t")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Give each test its marker; those in containers come last, when their images are built."""
    if NIGHTLY not in config.option.markexpr:
        items[:] = [item for item in items if item.get_closest_marker(NIGHTLY) is None]
    for item in items:
        assert isinstance(item, pytest.Function)
        if not any(item.get_closest_marker(name) for name in MARKERS):
            text = source(item.module) + "".join(map(source, fixtures(item)))
            item.add_marker(next((kind for kind, words in WORDS.items() if re.search(words, text)), "unit"))
    items.sort(key=marker_of)


def fixtures(item: pytest.Function) -> Iterator[Callable[..., object]]:
    """Return the functions of a test's fixtures."""
    for definitions in item._fixtureinfo.name2fixturedefs.values():  # pyright: ignore[reportPrivateUsage] - else it's told nowhere
        yield inspect.unwrap(definitions[-1].func)


source = functools.cache(inspect.getsource)


def marker_of(item: pytest.Item) -> int:
    """Return the place of a test's marker among the markers."""
    return next(place for place, name in enumerate(MARKERS) if item.get_closest_marker(name) is not None)


# -- Markers are true --------------------------------------------------------------------------------------------------


def note_program(event: str, arguments: tuple[Any, ...]) -> None:
    """Note what a test starts, as an audit hook."""
    if event == "subprocess.Popen" and not isinstance(arguments[1], str | bytes):
        words = [Path(os.fsdecode(word)).name for word in arguments[1]]
        started.update(PROGRAMS[word] for word in words if word in PROGRAMS)
        if {"pluriverse_server", "run"} <= set(words):
            started.add("display")


sys.addaudithook(note_program)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Fail a test that started what its marker doesn't say."""
    yield
    dearest = max(map(MARKERS.index, started), default=0)
    started.clear()
    assert dearest <= marker_of(item), (
        f"marked {MARKERS[marker_of(item)]}, but is {MARKERS[dearest]}: tests/conftest.py"
    )


# -- Containers --------------------------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Wait until the images are built, without using up the test's own time."""
    if BUILT in os.environ and item.get_closest_marker("container") is not None:
        while not Path(os.environ[BUILT]).exists():
            time.sleep(LOOK_S)
    return (yield)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose images aren't there, or fail it where they should be."""
    marker = item.get_closest_marker("container")
    if marker is None:
        return
    from support.remotes import engine_has_image

    if BUILT in os.environ and (wrong := Path(os.environ[BUILT]).read_text()):
        pytest.fail(f"the images could not be built:\n{wrong}")
    runtimes: Sequence[str] = marker.args or ("gym-core",)
    if not all(map(engine_has_image, runtimes)):
        pytest.skip(f"no Docker engine answers, or it lacks an image of {', '.join(runtimes)}: make images")


# -- What was left out -------------------------------------------------------------------------------------------------


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Count the tests that `make test` leaves out."""
    if not items:
        return
    config = items[0].config
    config.stash[left_out] += sum(any(map(item.get_closest_marker, LEFT_OUT)) for item in items)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the process that reports, from a worker."""
    worker: Any = session.config
    if hasattr(worker, "workeroutput"):
        worker.workeroutput["left_out"] = worker.stash[left_out]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take it from a worker; all of them leave out the same."""
    node.config.stash[left_out] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what was left out, and how to run it."""
    if count := config.stash[left_out]:
        terminalreporter.write_line(
            f"{count} tests in containers or of RLlib were left out; to run them too: make test-all"
        )
