"""TigerVNC's two servers, each on a Unix socket: their parameters and readiness."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from pluriverse_server.process import ChildProcess, StartError, run

from .xserver import START_DEADLINE_S

# Updates a second that a client may get. The server waits for half of one after a change before it sends it, so this
# is latency: key press to changed pixel at a client takes 10 ms (p50) at 60, 3.5 at 250, 2.5 at 500, 2.4 at 1000. It
# costs nothing with a program that draws 60 frames a second, and 500 leaves 1 ms for a frame that is drawn in steps.
FRAME_RATE: Final = 500

PARAMETERS: Final = {
    "FrameRate": FRAME_RATE,
    # Agent, observers and viewers share the desktop, and none of them ends another's connection.
    "AlwaysShared": 1,
    "DisconnectClients": 0,
    # The VNC proxy before it checks passwords and bounds connections.
    "UseBlacklist": 0,
    # Viewers and the program don't see each other's clipboard.
    "AcceptCutText": 0,
    "SendCutText": 0,
    # Episodes assume the size that they began with.
    "AcceptSetDesktopSize": 0,
    # The daemon decides when to hang up.
    "IdleTimeout": 0,
    "MaxIdleTime": 0,
    "MaxConnectionTime": 0,
    "MaxDisconnectionTime": 0,
}
# X0tigervnc's own -PollingCycle and -MaxProcessorUsage stay at their defaults: with the DAMAGE extension, which Xvfb
# has, they govern just how often the pointer's position is asked for. Shorter cycles cost CPU and bring nothing.

# A server listens some 30 ms after its start.
CONNECT_INTERVAL_S: Final = 0.01

BANNER_BYTES: Final = 12

# Preloaded into X0tigervnc, so that it gives back what it takes: native/vnc.
DETACH: Final = Path(__file__).parent / "detach.so"


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Return what the environment of an X0tigervnc has beside ``extra``."""
    # An installation that had no compiler is without.
    return {**extra, "LD_PRELOAD": str(DETACH)} if DETACH.exists() else dict(extra)


async def arguments(program: str, *, socket: Path, name: str) -> list[str]:
    """Return the name and command line of a VNC server that accepts all clients of its Unix socket.

    Parameters that its version doesn't know are left out.
    """
    known = await _known_parameters(program)
    chosen = {key: value for key, value in PARAMETERS.items() if key.lower() in known}
    parameters = {"rfbport": -1, "rfbunixpath": socket, "SecurityTypes": "None", "desktop": name, **chosen}
    return [f"-{key}={value}" for key, value in parameters.items()]


async def wait_for_banner(child: ChildProcess, socket: Path) -> None:
    try:
        async with asyncio.timeout(START_DEADLINE_S):
            while not await _greets(socket):
                if child.returncode is not None:
                    await child.wait()  # for its last output
                    raise StartError(f"the {child.name} ended at once, {child.describe_end()}:\n{child.output_tail}")
                await asyncio.sleep(CONNECT_INTERVAL_S)
    except TimeoutError:
        raise StartError(
            f"the {child.name} did not answer within {START_DEADLINE_S:.0f} s:\n{child.output_tail}"
        ) from None


async def _greets(socket: Path) -> bool:
    try:
        reader, writer = await asyncio.open_unix_connection(socket)
    except OSError:
        return False
    try:
        return (await reader.readexactly(BANNER_BYTES)).startswith(b"RFB ")
    except (OSError, asyncio.IncompleteReadError):
        return False
    finally:
        writer.close()


async def _known_parameters(program: str) -> Collection[str]:
    usage = (await run([program, "-help"], merge_stderr=True)).output.decode(errors="replace")
    return {name.lower() for name in re.findall(r"^  (\w+) +- ", usage, re.MULTILINE)}
