"""Where the environments of a server run: one remote for each that is open, as many as there are."""

from __future__ import annotations

import re
import threading
from collections import deque
from typing import Final

from pluriverse import validation
from pluriverse.errors import RemoteUnavailable
from pluriverse.remotes.address import SCHEMES
from pluriverse.remotes.started import MAX_REMOTES

_COUNTED: Final = re.compile(r"(?:([a-z]+):)?([0-9]{1,9})(\?.*)?")
_SCHEME: Final = re.compile(r"[a-z]+://")


class Full(RemoteUnavailable):
    """All remotes are in use."""


class Remotes:
    """The remotes of ``remotes=``, each for one environment at a time. Its methods may be called by any thread."""

    def __init__(self, remotes: str) -> None:
        self._free: deque[str] = deque(one_by_one(remotes))
        self.count: int = len(self._free)
        self._given_back = threading.Condition()

    def take(self, wait_s: float = 0.0) -> str:
        """Take one, if need be once it is given back."""
        with self._given_back:
            if not self._given_back.wait_for(lambda: self._free, wait_s):
                raise Full(f"all {self.count} remotes are in use; release one, or start this with more --remotes")
            return self._free.popleft()

    def give_back(self, place: str) -> None:
        with self._given_back:
            self._free.append(place)
            self._given_back.notify()


def one_by_one(remotes: str) -> list[str]:
    if remotes.partition(":")[0] in SCHEMES:
        scheme = _SCHEME.match(remotes)
        addresses, _, query = remotes.partition("?")
        listed = addresses.removeprefix(scheme[0]).split(",") if scheme else [addresses]
        return [f"{scheme[0] if scheme else ''}{each}{'?' if query else ''}{query}" for each in listed]
    match = _COUNTED.fullmatch(remotes)
    if match is None or not 0 < int(match[2]) <= MAX_REMOTES:
        validation.refuse("remotes", remotes, "a number, an engine such as docker:4, or addresses")
    engine = f"{match[1]}:" if match[1] else ""
    return [f"{engine}1{match[3] or ''}"] * int(match[2])
