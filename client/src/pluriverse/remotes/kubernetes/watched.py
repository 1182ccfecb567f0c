"""The pods with some labels, kept up to date by a single watch, however many remotes there are."""

from __future__ import annotations

import contextlib
import http
import logging
import random
import threading
import time
from collections.abc import Callable
from typing import Final, TypeVar

import urllib3

from .cluster import Cluster, ClusterError, Event, Manifest, events

log: Final = logging.getLogger(__name__)

T = TypeVar("T")

# After a failure, and after each further one twice as long: an API server that restarts is back within seconds.
FIRST_RETRY_S: Final = 0.1
LAST_RETRY_S: Final = 5.0

# Its thread ends at once, unless the server is slow to answer just then.
END_S: Final = 1.0


class Watched:
    """The pods of a namespace that have some labels, by name.

    A watch that ends, breaks or is refused is taken up where it was; if the server no longer knows what was since then
    (410 Gone), all are listed again.
    """

    def __init__(self, cluster: Cluster, selector: str) -> None:
        self._cluster = cluster
        self._selector = selector
        self._changed = threading.Condition()
        self._objects: dict[str, Manifest] = {}
        self._closed = False
        self._response: urllib3.BaseHTTPResponse | None = None
        self._version = self._list()
        self._thread = threading.Thread(target=self._keep, name="pluriverse: watch of pods", daemon=True)
        self._thread.start()

    def get(self, name: str) -> Manifest | None:
        """Return a pod, or None without one of this name."""
        with self._changed:
            return self._objects.get(name)

    def all(self) -> list[Manifest]:
        with self._changed:
            return list(self._objects.values())

    def wait_for(self, condition: Callable[[], T | None], timeout_s: float) -> T | None:
        """Return what ``condition`` does once that isn't None; None if it isn't in time. It is asked at each change."""
        found: T | None = None

        def look() -> bool:
            nonlocal found
            found = condition()
            return found is not None

        with self._changed:
            self._changed.wait_for(look, timeout_s)
        return found

    def wake(self) -> None:
        """Let those who wait ask again: something else has changed."""
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            response = self._response
            self._changed.notify_all()
        if response is not None:
            # Its thread waits for a next event; without a connection there is nothing to end.
            with contextlib.suppress(OSError, ValueError, RuntimeError):
                response.shutdown()
        self._thread.join(END_S)

    def _keep(self) -> None:
        retry_s = FIRST_RETRY_S
        while not self._closed:
            began = time.monotonic()
            try:
                self._follow()
            except ClusterError as error:
                if self._closed:
                    return
                if error.status == http.HTTPStatus.GONE:
                    self._version = ""
                log.info("the watch of pods: %s", error)
            # A watch that has served its time is restarted at once, one that ends too soon after a while.
            retry_s = FIRST_RETRY_S if time.monotonic() - began > LAST_RETRY_S else min(2 * retry_s, LAST_RETRY_S)
            self._pause(retry_s * random.uniform(0.5, 1.0))  # noqa: S311 - so that trainers don't ask all at once

    def _follow(self) -> None:
        if not self._version:
            self._version = self._list()
        with self._cluster.watch(self._selector, self._version) as response:
            with self._changed:
                if self._closed:
                    return
                self._response = response
            try:
                for event in events(response):
                    self._note(event)
            finally:
                with self._changed:
                    self._response = None

    def _list(self) -> str:
        objects, version = self._cluster.list(self._selector)
        with self._changed:
            self._objects = objects
            self._changed.notify_all()
        return version

    def _note(self, event: Event) -> None:
        with self._changed:
            self._version = event.version
            if event.name is None:
                return
            if event.manifest is None:
                self._objects.pop(event.name, None)
            else:
                self._objects[event.name] = event.manifest
            self._changed.notify_all()

    def _pause(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._closed, seconds)
