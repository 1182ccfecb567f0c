"""A display for the kit's tests, with a window and somebody who types; and both ends of the report socket."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pluriverse_server.kit import Reporter, Window
from support.report_server import ReportServer
from support.typist import Typist
from support.xvfb import Xvfb, xvfb


@pytest.fixture(scope="module")
def server() -> Iterator[Xvfb]:
    with xvfb() as server:
        yield server


@pytest.fixture
def display(server: Xvfb, monkeypatch: pytest.MonkeyPatch) -> Xvfb:
    """A display that this process' programs draw on."""
    monkeypatch.setenv("DISPLAY", server.name)
    return server


@pytest.fixture
def typist(display: Xvfb) -> Iterator[Typist]:
    with Typist(display.name) as keyboard:
        yield keyboard


@pytest.fixture
def window(display: Xvfb) -> Iterator[Window]:
    with Window(1024, 768) as shown:
        yield shown


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[ReportServer]:
    with ReportServer(tmp_path) as end:
        yield end


@pytest.fixture
def reporter(daemon: ReportServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reporter]:
    monkeypatch.setenv("PLURIVERSE_SOCKET", str(daemon.path))
    program = Reporter.from_environment()
    daemon.accept()
    yield program
    program.close()
