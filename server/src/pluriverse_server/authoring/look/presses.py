"""What a person presses while the steps of a reset are recorded, with what the sources read meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from pluriverse_server.authoring import AuthoringError
from pluriverse_server.manifest.conditions import Value
from pluriverse_server.recording.inputs import Inputs
from pluriverse_server.x11.connection import DisplayLost

from .steps import Event, Readings, steps_of

# How often the sources are read; a step's end shows for longer.
READ_S: Final = 0.2


class Presses:
    """Listens until ``close``. ``read`` returns the sources' values, and may block."""

    def __init__(self, screen: Mapping[str, str], read: Callable[[], dict[str, Value]]) -> None:
        """Listen to the screen that has this environment; raise AuthoringError if it is gone."""
        self._events: list[tuple[float, Event]] = []
        self._readings: list[tuple[float, Readings]] = []
        self._read = read
        self._over = threading.Event()
        try:
            self._inputs = Inputs(screen["DISPLAY"], Path(screen["XAUTHORITY"]), self._take)
        except DisplayLost as error:
            raise AuthoringError(f"what is pressed can't be heard: {error}") from error
        self._thread = threading.Thread(target=self._watch, name="readings", daemon=True)
        self._thread.start()

    def steps(self) -> list[dict[str, Any]]:
        """Return what was pressed so far as steps, as in ``[reset]``."""
        self._readings.append((time.time(), self._read()))
        return steps_of(list(self._events), list(self._readings))

    def close(self) -> None:
        """Listen no more."""
        self._over.set()
        self._inputs.close()
        self._thread.join()

    def _take(self, at: float, event: Event) -> None:
        self._events.append((at, event))

    def _watch(self) -> None:
        while True:
            at = time.time()
            self._readings.append((at, self._read()))
            if self._over.wait(READ_S):
                return
