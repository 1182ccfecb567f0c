"""A screen within the screen: an X server of a program's own, shown or hidden at once, with VNC on the outer one.

Xephyr draws into a window of ours that is as large as the outer screen and mapped only while it is shown.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from pluriverse_server.process import ChildProcess, executable
from pluriverse_server.tasks import start_task
from pluriverse_server.x11.connection import DisplayLost, write_cookie

from .client_thread import ClientThread, open_in_thread
from .nested_window import NestedWindow
from .screen import ServerExit
from .xserver import START_DEADLINE_S, XServer

NESTED_SCREEN: Final = "nested X server"

# Xephyr holds back input that arrives while it waits for a reply of the outer server, until a client makes a request.
# Programs that draw do so all the time; for one that waits for a key this is the longest delay.
WAKE_INTERVAL_S: Final = 0.02


class NestedScreen:
    """A running X server within another, hidden at first. Made by ``NestedScreen.start``.

    While it is shown it gets the outer screen's keys and pointer; hidden, it gets input through XTEST only.
    """

    def __init__(self, server: XServer, window: ClientThread[NestedWindow], xauthority: Path) -> None:
        self.xauthority = xauthority
        self._server = server
        self._window = window
        self._following: asyncio.Task[None] | None = None
        self._stopped = False

    @classmethod
    async def start(cls, environment: Mapping[str, str], width: int, height: int, *, folder: Path) -> NestedScreen:
        """Start it, with the outer screen's keyboard map; nothing of it shows yet.

        The outer screen's keys stop repeating by themselves, now and until its end: the inner ones do.
        ``environment``: DISPLAY and XAUTHORITY of the outer screen. ``folder``: where its cookie is kept.
        """
        program = executable("Xephyr", package="xserver-xephyr")
        outer, cookie = environment["DISPLAY"], Path(environment["XAUTHORITY"])
        window = await open_in_thread("nested screen", lambda: NestedWindow(outer, cookie, width, height), outer)
        xauthority = folder / f"nested-{window.client.id:x}.Xauthority"
        try:
            write_cookie(xauthority)
            # Its host grab would take the keyboard to itself at Ctrl+Shift.
            command = [program, "-parent", str(window.client.id), "-screen", f"{width}x{height}", "-no-host-grab"]
            server = await XServer.start(command, xauthority=xauthority, env=environment)
        except BaseException:
            xauthority.unlink(missing_ok=True)
            await window.close()
            raise
        screen = cls(server, window, xauthority)
        try:
            await screen._begin()
        except BaseException:
            await screen.stop()
            raise
        return screen

    async def _begin(self) -> None:
        # Opening a client takes many answers.
        await self._window.run(
            lambda window: window.connect_inside(self._server.display, self.xauthority), START_DEADLINE_S
        )
        self._following = start_task(self._follow(), "nested screen: keyboard map")

    @property
    def environment(self) -> dict[str, str]:
        return {"DISPLAY": self._server.display, "XAUTHORITY": str(self.xauthority)}

    @property
    def child(self) -> ChildProcess:
        return self._server.child

    async def show(self) -> None:
        """Raise it above all but the overlay, give it keys and pointer, and hide the nested screen that was shown.

        Keys and buttons that are held are released there and pressed here. The picture follows within 2 ms.
        """
        await self._window.run(lambda window: window.show())

    async def wait_for_exit(self) -> ServerExit:
        """Return when its X server has ended, which it also does when the outer one ends."""
        await self.child.wait()
        return ServerExit(NESTED_SCREEN, self.child.describe_end(), self.child.output_tail)

    async def stop(self) -> None:
        """End it and what draws on it, and remove its files. May be called at any time, repeatedly."""
        if self._stopped:
            return
        self._stopped = True
        if self._following is not None:
            self._following.cancel()
            await asyncio.wait({self._following})
        self._window.client.abort()
        await self._window.close()
        await self._server.stop()
        self.xauthority.unlink(missing_ok=True)

    async def _follow(self) -> None:
        """Copy changes of the outer keyboard map, to which VNC servers and injectors add keysyms."""
        loop, window = asyncio.get_running_loop(), self._window.client
        with contextlib.suppress(DisplayLost):
            while True:
                readable = asyncio.Event()
                loop.add_reader(window, readable.set)
                try:
                    async with asyncio.timeout(WAKE_INTERVAL_S):
                        await readable.wait()
                except TimeoutError:
                    pass
                finally:
                    loop.remove_reader(window)
                await self._window.run(lambda window: window.follow())
