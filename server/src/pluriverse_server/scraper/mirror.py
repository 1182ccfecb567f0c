"""Shows the screen of a program's world on the remote's, where people watch it, and hears what they press there."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from pluriverse_protocol.events import BUTTONS, KeyEvent, PointerEvent, ScreenEvent
from pluriverse_protocol.reports import Worlds
from Xlib import X
from Xlib.display import Display

from pluriverse_server.sources.reading import Pixels
from pluriverse_server.x11 import pixels, polling
from pluriverse_server.x11.connection import CONNECTION_ERRORS, DisplayLost, hang_up, open_display, send

log = logging.getLogger(__name__)

# As many pictures as people see; the last one always is. Where nobody looks, they take time from the program's steps.
PICTURE_S: Final = 1 / 60
UNWATCHED_PICTURE_S: Final = 1 / 4

CLOSE_S: Final = 2.0

# That of the remote's own environment.
OWN_SLOT: Final = 0

_HEARD: Final = (
    X.KeyPressMask | X.KeyReleaseMask | X.ButtonPressMask | X.ButtonReleaseMask | X.PointerMotionMask | X.ExposureMask
)


class Screens:
    """The screens of worlds, by their slots; one is shown on the remote's. Threads may use them together."""

    def __init__(self, display: str, xauthority: Path, report: Callable[[Worlds], None]) -> None:
        self._where = display, xauthority
        self._report = report
        self._lock = threading.Lock()
        self._memories: dict[int, Pixels] = {}
        self._mirror: _Mirror | None = None
        self.watched = True
        """Whether anybody looks at the remote's screen."""
        self._shown = self._wanted = OWN_SLOT
        # What is yet to be released in worlds that are no longer shown.
        self._left: dict[int, Sequence[ScreenEvent]] = {}

    def put(self, slot: int, memory: Pixels) -> None:
        """Have a world's screen, which is in ``memory`` and of the size of the remote's."""
        with self._lock:
            if self._memories.get(slot) is not memory:
                self._memories[slot] = memory
                self._show()
        self.touch(slot)

    def remove(self, slot: int, memory: Pixels) -> None:
        """Have that screen no more, if it wasn't replaced since."""
        with self._lock:
            if self._memories.get(slot) is memory:
                del self._memories[slot]
                self._left.pop(slot, None)
                self._show()

    def show(self, slot: int) -> None:
        """Show that world, as long as it is there."""
        with self._lock:
            self._wanted = slot
            self._show()

    def touch(self, slot: int) -> None:
        """Say that a world's screen may have changed."""
        mirror = self._mirror
        if slot == self._shown and mirror is not None:
            mirror.touch()

    def take(self, slot: int) -> Sequence[ScreenEvent]:
        """Return what people have pressed in a world since the last call."""
        mirror = self._mirror
        left = self._left.pop(slot, ())
        return [*left, *mirror.take()] if slot == self._shown and mirror is not None else left

    def _show(self) -> None:
        before = self._shown
        self._shown = self._wanted if self._wanted in self._memories else min(self._memories, default=OWN_SLOT)
        if self._mirror is not None and before != self._shown and before in self._memories:
            self._left[before] = self._mirror.leave()
        if not self._memories:
            if self._mirror is not None:
                self._mirror.close()
            self._mirror = None
        elif self._mirror is None:
            self._mirror = _Mirror(*self._where, self._memories[self._shown], lambda: self.watched)
        else:
            self._mirror.show(self._memories[self._shown])
        self._report(Worlds(0, tuple(sorted(self._memories)), self._shown))


class _Mirror:
    """A window over all of the remote's screen, and the thread that paints it. ``close`` takes it away."""

    def __init__(self, display: str, xauthority: Path, memory: Pixels, is_watched: Callable[[], bool]) -> None:
        self._display = display
        self._xauthority = xauthority
        self._memory = memory
        self._is_watched = is_watched
        self._changed = os.eventfd(1, os.EFD_NONBLOCK)
        self._pressed: deque[ScreenEvent] = deque()
        self._held: set[int] = set()
        self._at = PointerEvent(0, 0, 0)
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="mirror", daemon=True)
        self._thread.start()

    def show(self, memory: Pixels) -> None:
        """Go on with another world's screen."""
        self._memory = memory
        self.touch()

    def leave(self) -> Sequence[ScreenEvent]:
        """Return what was pressed, and the release of what still is."""
        held, self._held = self._held, set()
        at, self._at = self._at, PointerEvent(self._at.x, self._at.y, 0)
        return [*self.take(), *(KeyEvent(key, False) for key in held), *([self._at] if at.buttonmask else [])]

    def touch(self) -> None:
        os.eventfd_write(self._changed, 1)

    def take(self) -> Sequence[ScreenEvent]:
        taken: list[ScreenEvent] = []
        while self._pressed:
            taken.append(self._pressed.popleft())
        return taken

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self.touch()
            # A frozen server of the remote's keeps it no longer than others of its clients.
            self._thread.join(CLOSE_S)
            if not self._thread.is_alive():
                os.close(self._changed)

    def _run(self) -> None:
        try:
            connection = open_display(self._display, self._xauthority)
        except DisplayLost as error:
            log.warning("the program isn't shown: %s", error)
            return
        try:
            self._show(connection)
        except (DisplayLost, *CONNECTION_ERRORS) as error:
            if not self._closed:
                log.warning("the program is no longer shown: %s", error)
        finally:
            hang_up(connection)

    def _show(self, connection: Display) -> None:
        pixels.require_bgrx(connection)
        height, width = self._memory.shape[:2]
        root: Any = connection.screen().root
        window = root.create_window(
            0,
            0,
            width,
            height,
            0,
            X.CopyFromParent,
            background_pixmap=X.NONE,
            override_redirect=True,
            event_mask=_HEARD,
        )
        # Below what the overlay paints. A key that is held repeats on the program's own screen, or doesn't.
        window.configure(stack_mode=X.Below)
        connection.change_keyboard_control(auto_repeat_mode=X.AutoRepeatModeOff)
        window.map()
        gc = window.create_gc()
        try:
            image = pixels.Pixels(connection, width * height)
        except pixels.NotShared:
            image = pixels.Pixels(connection, width * height, shared=False)
        painted = np.frombuffer(image.memory, np.uint8).reshape(height, width, 4)
        due = 0.0
        while not self._closed:
            self._hear(connection)
            if not self._await_change(connection, due):
                continue
            due = time.monotonic() + (PICTURE_S if self._is_watched() else UNWATCHED_PICTURE_S)
            np.copyto(painted, self._memory)
            send(connection, *image.put(window.id, gc.id, 0, 0, width, 0, height))
            # The server may read it until then.
            connection.sync()
        connection.change_keyboard_control(auto_repeat_mode=X.AutoRepeatModeOn)
        window.destroy()
        connection.sync()
        del painted
        image.close()

    def _await_change(self, connection: Display, due: float) -> bool:
        """Return whether there is something to paint; else there may be something to hear."""
        readable, _, _ = polling.select([self._changed, connection])
        if self._changed not in readable:
            return False
        if (left := due - time.monotonic()) > 0 and not self._closed:
            heard, _, _ = polling.select([connection], timeout_s=left)
            if heard:
                return False
        os.eventfd_read(self._changed)
        return not self._closed

    def _hear(self, connection: Display) -> None:
        # Waiting for a reply takes in events, too, of which the connection would then say nothing.
        while connection.pending_events():
            event: Any = connection.next_event()
            if event.type in (X.KeyPress, X.KeyRelease):
                keysym: int = connection.keycode_to_keysym(event.detail, 0)
                if keysym:
                    down = event.type == X.KeyPress
                    (self._held.add if down else self._held.discard)(keysym)
                    self._pressed.append(KeyEvent(keysym, down))
            elif event.type in (X.ButtonPress, X.ButtonRelease, X.MotionNotify):
                buttons = self._at.buttonmask
                if event.type != X.MotionNotify and event.detail <= BUTTONS:
                    bit = 1 << (event.detail - 1)
                    buttons = buttons | bit if event.type == X.ButtonPress else buttons & ~bit
                self._at = PointerEvent(event.root_x, event.root_y, buttons)
                self._pressed.append(self._at)
            elif event.type == X.Expose:
                self.touch()
            elif event.type == X.MappingNotify:
                connection.refresh_keyboard_mapping(event)
