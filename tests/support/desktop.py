"""A screen for tests: Xvfb, a TigerVNC server on a free port, and one window over all of it that notes its input."""

import asyncio
import contextlib
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, Final, Self

from pluriverse_server.process import ChildProcess
from support.ports import listens
from support.waiting import eventually
from support.xvfb import bare_xvfb
from support.xwindow import Window
from Xlib import X

POLL_S: Final = 0.01


def write_password_file(path: Path, password: str) -> None:
    """Write TigerVNC's obfuscated form of the password."""
    made = subprocess.run(["tigervncpasswd", "-f"], input=password.encode(), capture_output=True, check=True)
    path.write_bytes(made.stdout)


class Desktop:
    """One screen. ``window`` covers it, is painted by ``fill`` and ``pixels``, and takes all keys and clicks."""

    def __init__(self, xvfb: contextlib.ExitStack, display_name: str, vnc_socket: Path | None) -> None:
        self.display_name = display_name
        self._xvfb = xvfb
        self._vnc: ChildProcess | None = None
        # The VNC server reads its password's file at each connection.
        self._folder = tempfile.TemporaryDirectory(prefix="desktop-")
        self.vnc_socket = vnc_socket or Path(self._folder.name, "vnc.sock")
        self.window = Window(display_name, Path("/nonexistent"))
        self.fill = self.window.fill

    @classmethod
    async def start(cls, width: int = 400, height: int = 300, vnc_socket: Path | None = None) -> Self:
        """Start a black screen of ``width`` x ``height`` pixels; its VNC server answers."""
        stack = contextlib.ExitStack()
        name, _ = await asyncio.to_thread(stack.enter_context, bare_xvfb(width, height))
        desktop = cls(stack, name, vnc_socket)
        await desktop.start_vnc()
        return desktop

    async def start_vnc(self, password: str | None = None) -> None:
        command = ["X0tigervnc", "-display", self.display_name, "-AlwaysShared", "-UseBlacklist=0"]
        command += ["-rfbport=-1", f"-rfbunixpath={self.vnc_socket}"]
        if password is None:
            command += ["-SecurityTypes", "None"]
        else:
            file = Path(self._folder.name, "password")
            write_password_file(file, password)
            command += ["-SecurityTypes", "VncAuth", "-PasswordFile", str(file)]
        self._vnc = await ChildProcess.start("X0tigervnc", command)
        await eventually(lambda: listens(self.vnc_socket))

    async def stop_vnc(self) -> None:
        if self._vnc is not None:
            await self._vnc.stop()

    async def close(self) -> None:
        await self.stop_vnc()
        self.window.connection.close()
        await asyncio.to_thread(self._xvfb.close)
        self._folder.cleanup()

    def pixels(self, x: int, y: int, rows: tuple[bytes, ...]) -> None:
        """Paint rows of RGB bytes, each pixel as it is."""
        for dy, row in enumerate(rows):
            for dx in range(len(row) // 3):
                self.fill(x + dx, y + dy, 1, 1, row[3 * dx : 3 * dx + 3])

    def inputs(self) -> list[tuple[str, int]]:
        """What was pressed since the last call: ``("key", keysym)`` or ``("button", number)``."""
        pressed: list[tuple[str, int]] = []
        connection: Any = self.window.connection
        while connection.pending_events():
            event = connection.next_event()
            if event.type == X.KeyPress:
                pressed.append(("key", connection.keycode_to_keysym(event.detail, 0)))
            elif event.type == X.ButtonPress:
                pressed.append(("button", event.detail))
        return pressed

    async def wait_for_inputs(self, wanted: list[tuple[str, int]], timeout_s: float = 10.0) -> None:
        """Return once exactly these were pressed, in this order."""
        deadline = time.monotonic() + timeout_s
        seen: list[tuple[str, int]] = []
        while (seen := seen + self.inputs()) != wanted:
            assert time.monotonic() < deadline, f"pressed {seen}, wanted {wanted}"
            assert seen == wanted[: len(seen)], f"pressed {seen}, wanted {wanted}"
            await asyncio.sleep(POLL_S)
