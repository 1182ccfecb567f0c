"""``pluriverse doctor``: what is missing on this machine, and the command that mends it."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from .remotes import docker, local
from .remotes.runtimes import local_runtimes
from .rfb import implementation
from .rfb.errors import DecoderUnavailable

# Programs that the daemon starts, and their Debian packages.
SCREEN_PROGRAMS: Final = {
    "Xvfb": "xvfb",
    "X0tigervnc": "tigervnc-scraping-server",
    "Xtigervnc": "tigervnc-standalone-server",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked for. ``needed``: nothing works without it; else only ``purpose`` doesn't."""

    name: str
    purpose: str
    missing: str | None = None
    mend: str | None = None
    needed: bool = False

    @property
    def present(self) -> bool:
        """Whether it is there."""
        return self.missing is None


def examine(runtime: str = "gym-core") -> list[Finding]:
    """Return all findings, the most important first."""
    engines = [_docker(runtime), _local(runtime)]
    return [_driver(), *engines, _some_engine(engines), *_screen(), *_extras()]


def _driver() -> Finding:
    try:
        return Finding("VNC driver", f"seeing and acting ({implementation()})", needed=True)
    except DecoderUnavailable as error:
        return Finding("VNC driver", "seeing and acting", *_split(str(error)), needed=True)


def _docker(runtime: str) -> Finding:
    reason = docker.why_unavailable(runtime)
    return Finding(f"Docker with pluriverse/{runtime}", "remotes='docker:4'", *_split(reason))


def _local(runtime: str) -> Finding:
    reason = local.why_unavailable(runtime)
    found = ", ".join(local_runtimes()) or "none"
    return Finding("local remotes", f"remotes='local:4' (runtimes: {found})", *_split(reason))


def _some_engine(engines: list[Finding]) -> Finding:
    missing = None if any(engine.present for engine in engines) else "neither Docker nor local remotes"
    mend = "attach to remotes elsewhere: remotes='vnc://HOST:5900+15900?password=…'" if missing else None
    return Finding("a way to start remotes", "remotes=4", missing, mend)


def _screen() -> Iterator[Finding]:
    if importlib.util.find_spec(local.SERVER) is None:
        return
    for program, package in SCREEN_PROGRAMS.items():
        yield _program(program, "the screen of local remotes", package)


def _extras() -> Iterator[Finding]:
    yield _program("ffmpeg", "films as MP4; without it they are animated PNG", "ffmpeg")
    windows = importlib.util.find_spec("tkinter") is not None
    missing = None if windows else "Python was built without it"
    yield Finding("tkinter", "render in a window", missing, None if windows else "apt-get install python3-tk")


def _program(name: str, purpose: str, package: str) -> Finding:
    if shutil.which(name) is not None:
        return Finding(name, purpose)
    return Finding(name, purpose, "not on PATH", f"apt-get install {package}")


def _split(reason: str | None) -> tuple[str | None, str | None]:
    """Split a reason at its last semicolon into what is missing, and the command that mends it."""
    if reason is None:
        return None, None
    missing, _, mend = reason.rpartition("; ")
    return (missing, mend) if missing else (reason, None)
