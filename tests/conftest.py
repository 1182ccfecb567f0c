"""What all tests share: settings, one kind for each test, and a word about those that were left out."""

import faulthandler
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
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

# From the cheapest to the dearest. A module's pytestmark or a test's own mark names its kind; those without are "unit".
KINDS: Final = ("unit", "display", "browser", "rllib", "container")
# Those that `make test` leaves to `make test-all`.
LEFT_OUT: Final = ("slow", "rllib", "container")
# Takes hours: it is run where it is asked for.
NIGHTLY: Final = "nightly"

# By which programs it is seen that a test did.
PROGRAMS: Final = {"Xvfb": "display", "Xtigervnc": "display", "Xephyr": "display", "chromium": "browser"}

# Where `make test-all` says that the images were built: the file's text is what went wrong.
BUILT: Final = "PLURIVERSE_IMAGES_BUILT"
LOOK_S: Final = 0.5

# What its time limit doesn't end, as it hangs in C or in its teardown after the limit, ends its worker.
GRACE_S: Final = 60.0

started: set[str] = set()
stderr = pytest.StashKey[int]()
left_out = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    """Give each worker of pytest-xdist its own folder for temporary files, so that a test sees only what it left there.

    Its path is short, as those of sockets have to be.
    """
    config.stash[left_out] = 0
    config.stash[stderr] = os.dup(2)
    if hasattr(config, "workerinput"):
        folder = tempfile.mkdtemp(prefix="pv-")
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        config.option.basetemp = Path(folder, "t")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests of no other kind as "unit"; those in containers come last, when their images are built."""
    if NIGHTLY not in config.option.markexpr:
        items[:] = [item for item in items if item.get_closest_marker(NIGHTLY) is None]
    for item in items:
        if kind_of(item) == "unit":
            item.add_marker("unit")
    items.sort(key=lambda item: KINDS.index(kind_of(item)))


def kind_of(item: pytest.Item) -> str:
    """Return what a test needs, by the mark that is nearest to it."""
    return next((mark.name for mark in item.iter_markers() if mark.name in KINDS), "unit")


# -- Kinds are true --------------------------------------------------------------------------------------------------


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
    end_what_hangs(item)  # pytest takes the one of a test that failed back
    yield
    kind, dearest = kind_of(item), max(started, key=KINDS.index, default="unit")
    started.clear()
    assert KINDS.index(dearest) <= KINDS.index(kind), f"marked {kind}, but is {dearest}: mend its module's pytestmark"


def end_what_hangs(item: pytest.Item) -> None:
    """Tell where all threads are, and end this process, some time after the test's limit."""
    marker = item.get_closest_marker("timeout")
    limit_s = float(marker.args[0] if marker is not None else item.config.getini("timeout"))
    faulthandler.dump_traceback_later(limit_s + GRACE_S, exit=True, file=item.config.stash[stderr])


# -- Containers --------------------------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Wait until the images are built, without using up the test's own time; then run it, but not for ever."""
    if BUILT in os.environ and item.get_closest_marker("container") is not None:
        while not Path(os.environ[BUILT]).exists():
            time.sleep(LOOK_S)
    end_what_hangs(item)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose images aren't there, or fail it where they should be."""
    marker = item.get_closest_marker("container")
    if marker is None:
        return
    from support.remotes import engine_has_image

    if BUILT in os.environ and (wrong := Path(os.environ[BUILT]).read_text()):
        pytest.fail(f"the images could not be built:\n{wrong}")
    runtimes: Sequence[str] = marker.kwargs.get("images", marker.args or ("gym-core",))
    if not all(map(engine_has_image, runtimes)):
        pytest.skip(f"the Docker engine doesn't answer, or it lacks an image of {', '.join(runtimes)}: make images")


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
            f"{count} tests that are slow, in containers or of RLlib were left out; to run them too: make test-all"
        )
