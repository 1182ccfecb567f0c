"""A screen for tests: Xvfb, a TigerVNC server on a free port, and one window over all of it that notes its input."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import time
from pathlib import Path
from typing import Any, Final, Self

from pluriverse_server.process import ChildProcess
from support.tigervnc import write_password_file
from support.xvfb import bare_xvfb
from Xlib import X
from Xlib.display import Display

START_TIMEOUT_S: Final = 60.0
POLL_S: Final = 0.01

Rgb = tuple[int, int, int]


class Desktop:
    """One screen. ``window`` covers it, is painted by ``fill`` and ``pixels``, and takes all keys and clicks."""

    def __init__(
        self, xvfb: contextlib.ExitStack, display_name: str, width: int, height: int, vnc_socket: Path | None
    ) -> None:
        self.display_name = display_name
        self._xvfb = xvfb
        self._vnc: ChildProcess | None = None
        # The VNC server reads its password's file at each connection.
        self._folder = tempfile.TemporaryDirectory(prefix="desktop-")
        self.vnc_socket = vnc_socket or Path(self._folder.name, "vnc.sock")
        self._display: Any = Display(display_name)
        root = self._display.screen().root
        self._window: Any = root.create_window(
            0, 0, width, height, 0, X.CopyFromParent, override_redirect=True, background_pixel=0,
            event_mask=X.KeyPressMask | X.ButtonPressMask | X.ExposureMask,
        )  # fmt: skip
        self._window.map()
        self._display.sync()
        self._window.set_input_focus(X.RevertToParent, X.CurrentTime)
        self._gc: Any = self._window.create_gc()
        self._display.sync()

    @classmethod
    async def start(cls, width: int = 400, height: int = 300, vnc_socket: Path | None = None) -> Self:
        """Start a black screen of ``width`` x ``height`` pixels; its VNC server answers."""
        stack = contextlib.ExitStack()
        name, _ = await asyncio.to_thread(stack.enter_context, bare_xvfb(width, height))
        desktop = cls(stack, name, width, height, vnc_socket)
        await desktop.start_vnc()
        return desktop

    async def start_vnc(self, password: str | None = None) -> None:
        command = ["X0tigervnc", "-display", self.display_name, "-rfbport=-1"]
        command += [f"-rfbunixpath={self.vnc_socket}"]
        command += ["-AlwaysShared", "-UseBlacklist=0"]
        if password is None:
            command += ["-SecurityTypes", "None"]
        else:
            file = Path(self._folder.name, "password")
            write_password_file(file, password)
            command += ["-SecurityTypes", "VncAuth", "-PasswordFile", str(file)]
        self._vnc = await ChildProcess.start("X0tigervnc", command)
        await self._wait_for_socket()

    async def _wait_for_socket(self) -> None:
        assert self._vnc is not None
        deadline = time.monotonic() + START_TIMEOUT_S
        while True:
            try:
                _, writer = await asyncio.open_unix_connection(self.vnc_socket)
            except OSError:
                if time.monotonic() > deadline or self._vnc.returncode is not None:
                    raise RuntimeError(f"X0tigervnc did not start: {self._vnc.output_tail}") from None
                await asyncio.sleep(POLL_S)
            else:
                writer.close()
                return

    async def stop_vnc(self) -> None:
        if self._vnc is not None:
            await self._vnc.stop()

    async def close(self) -> None:
        await self.stop_vnc()
        self._display.close()
        await asyncio.to_thread(self._xvfb.close)
        self._folder.cleanup()

    def fill(self, x: int, y: int, width: int, height: int, rgb: Rgb) -> None:
        self._gc.change(foreground=int.from_bytes(bytes(rgb), "big"))
        self._window.fill_rectangle(self._gc, x, y, width, height)
        self._display.flush()

    def pixels(self, x: int, y: int, rows: tuple[bytes, ...]) -> None:
        """Paint rows of RGB bytes, each pixel as it is."""
        for dy, row in enumerate(rows):
            for dx in range(len(row) // 3):
                red, green, blue = row[3 * dx : 3 * dx + 3]
                self._gc.change(foreground=red << 16 | green << 8 | blue)
                self._window.fill_rectangle(self._gc, x + dx, y + dy, 1, 1)
        self._display.flush()

    def inputs(self) -> list[tuple[str, int]]:
        """What was pressed since the last call: ``("key", keysym)`` or ``("button", number)``."""
        pressed: list[tuple[str, int]] = []
        while self._display.pending_events():
            event = self._display.next_event()
            if event.type == X.KeyPress:
                pressed.append(("key", self._display.keycode_to_keysym(event.detail, 0)))
            elif event.type == X.ButtonPress:
                pressed.append(("button", event.detail))
        return pressed

    def pointer(self) -> tuple[int, int]:
        at = self._display.screen().root.query_pointer()
        return at.root_x, at.root_y

    async def wait_for_inputs(self, wanted: list[tuple[str, int]], timeout_s: float = 10.0) -> None:
        """Return once exactly these were pressed, in this order."""
        deadline = time.monotonic() + timeout_s
        seen: list[tuple[str, int]] = []
        while (seen := seen + self.inputs()) != wanted:
            assert time.monotonic() < deadline, f"pressed {seen}, wanted {wanted}"
            assert seen == wanted[: len(seen)], f"pressed {seen}, wanted {wanted}"
            await asyncio.sleep(POLL_S)
