"""``pluriverse doctor``: what is missing on this machine, and the command that mends it."""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
from dataclasses import dataclass
from typing import Final

from .errors import ConfigurationError, RemoteUnavailable
from .remotes import START_S, docker, local
from .remotes.health import wait_until_ready
from .rfb import implementation
from .rfb.errors import DecoderUnavailable
from .runtimes import local_runtimes

# Programs that the daemon starts, and their Debian packages.
SCREEN_PROGRAMS: Final = {
    "Xvfb": "xvfb",
    "X0tigervnc": "tigervnc-scraping-server",
    "Xtigervnc": "tigervnc-standalone-server",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked for. ``needed``: nothing works without it; else only ``purpose`` doesn't.

    ``reason``: what is missing, and behind the last semicolon the command that mends it; None: it is there.
    """

    name: str
    purpose: str
    reason: str | None = None
    needed: bool = False

    @property
    def present(self) -> bool:
        return self.reason is None

    @property
    def missing(self) -> str | None:
        return self.reason and (self.reason.rpartition("; ")[0] or self.reason)

    @property
    def mend(self) -> str | None:
        missing, _, mend = (self.reason or "").rpartition("; ")
        return mend if missing else None


def examine(runtime: str = "gym-core") -> list[Finding]:
    """Return all findings, the most important first. Starts a remote of the runtime on each display."""
    runtimes = ", ".join(local_runtimes()) or "none"
    no_docker, no_local = docker.why_unavailable(runtime), _why_not_started(runtime, "xvfb")
    elsewhere = "attach to remotes elsewhere: remotes='vnc://HOST:5900+15900?password=…'"
    no_remotes = f"neither Docker nor local remotes; {elsewhere}" if no_docker and no_local else None
    tkinter = importlib.util.find_spec("tkinter")
    no_window = None if tkinter else "Python was built without it; apt-get install python3-tk"
    screen = SCREEN_PROGRAMS if importlib.util.find_spec(local.SERVER) else {}
    return [
        _driver(),
        Finding(f"Docker with pluriverse/{runtime}", "remotes='docker:4'", no_docker),
        Finding("local remotes", f"remotes='local:4' (runtimes: {runtimes})", no_local),
        Finding("a way to start remotes", "remotes=4", no_remotes),
        *(_program(name, "the screen of local remotes", package) for name, package in screen.items()),
        Finding("the display xvnc", "local remotes with --display-backend xvnc", _why_not_started(runtime, "xvnc")),
        _module("imageio_ffmpeg", "films", "video"),
        Finding("tkinter", "render in a window", no_window),
        _module("pynput", "playing by hand", "play"),
    ]


def _driver() -> Finding:
    try:
        return Finding("VNC driver", f"seeing and acting ({implementation()})", needed=True)
    except DecoderUnavailable as error:
        return Finding("VNC driver", "seeing and acting", str(error), needed=True)


def _why_not_started(runtime: str, display: str) -> str | None:
    """Start a remote on this machine; return None once its screen is shown and its program runs, else why not."""
    try:
        with contextlib.closing(local.LocalEngine(runtime, "", local.LocalOptions())) as engine:
            remote = engine.make("--display-backend", display)
            try:
                wait_until_ready(remote.address, START_S, remote.require_running)
            finally:
                remote.stop()
    except (ConfigurationError, RemoteUnavailable) as error:
        return str(error)
    return None


def _program(name: str, purpose: str, package: str) -> Finding:
    return Finding(name, purpose, None if shutil.which(name) else f"not on PATH; apt-get install {package}")


def _module(name: str, purpose: str, extra: str) -> Finding:
    found = importlib.util.find_spec(name)
    return Finding(name, purpose, None if found else f"not installed; pip install 'pluriverse[{extra}]'")
