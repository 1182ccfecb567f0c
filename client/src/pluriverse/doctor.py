"""``pluriverse doctor``: what is missing on this machine, and the command that installs it.

It vouches only for what it has played.
"""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from .errors import ConfigurationError, RemoteUnavailable
from .remotes import START_S, docker, local
from .remotes.engine import Engine
from .remotes.started import StartedRemotes
from .rfb import implementation
from .rfb.errors import DecoderUnavailable, RfbError
from .runtimes import local_runtimes
from .vnc import connect, wait_for_frames

# A VNC server sends the whole screen at once.
PICTURE_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked for. ``needed``: nothing works without it; else only ``purpose`` doesn't.

    ``reason``: what is missing, and behind the last semicolon the command that fixes it; None: it is there.
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


def examine(runtime: str = "gym-core") -> Iterator[Finding]:
    """Yield findings as they are made, the most important first; plays the runtime in Docker and on each display."""
    runtimes = ", ".join(local_runtimes()) or "none"
    yield _driver()
    no_docker = docker.why_unavailable(runtime) or _why_not_played(
        lambda: docker.DockerEngine(runtime, "", docker.DockerOptions())
    )
    yield Finding(f"Docker with pluriverse/{runtime}", "remotes='docker:4'", no_docker)
    no_local = _why_not_played(lambda: local.LocalEngine(runtime, "", local.LocalOptions()))
    yield Finding("local remotes", f"remotes='local:4' (runtimes: {runtimes})", no_local)
    elsewhere = "attach to remotes elsewhere: remotes='vnc://HOST:5900+15900?password=…'"
    no_remotes = (
        f"{runtime} can be played neither in Docker nor as a process; {elsewhere}" if no_docker and no_local else None
    )
    yield Finding(f"{runtime} can be played", "remotes=4", no_remotes, needed=True)
    no_xvnc = _why_not_played(lambda: local.LocalEngine(runtime, "", local.LocalOptions(), "--display-backend", "xvnc"))
    yield Finding("the display xvnc", "local remotes with --display-backend xvnc", no_xvnc)
    yield _module("imageio_ffmpeg", "films", "video")
    tkinter = importlib.util.find_spec("tkinter")
    no_window = None if tkinter else "Python was built without it: apt-get install python3-tk"
    yield Finding("tkinter", "render in a window", no_window)
    yield _module("pygame", "playing it yourself", "play")


def _driver() -> Finding:
    try:
        return Finding("VNC driver", f"seeing and acting ({implementation()})", needed=True)
    except DecoderUnavailable as error:
        return Finding("VNC driver", "seeing and acting", str(error), needed=True)


def _why_not_played(make: Callable[[], Engine[Any]]) -> str | None:
    """Start a remote; return None once it runs an episode and its screen has sent a picture, else why not."""
    try:
        with contextlib.closing(StartedRemotes(1, make(), start_timeout_s=START_S)) as remotes:
            address = remotes.take().address
            assert address.vnc_port is not None
            with contextlib.closing(connect(address.host, address.vnc_port, address.password)) as screen:
                if not wait_for_frames([screen], PICTURE_S):
                    return f"its screen can't be read: {screen.error}"
    except (ConfigurationError, RemoteUnavailable, OSError, RfbError) as error:
        return str(error)
    return None


def _module(name: str, purpose: str, extra: str) -> Finding:
    found = importlib.util.find_spec(name)
    return Finding(name, purpose, None if found else f"not installed; pip install 'pluriverse[{extra}]'")
