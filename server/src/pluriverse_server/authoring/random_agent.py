"""Plays at random while a remote is recorded."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from pluriverse_protocol import messages, reports
from pluriverse_protocol.env_spaces import Choice
from pluriverse_protocol.events import Event, KeyEvent

from pluriverse_server.daemon.requests import RequestError
from pluriverse_server.episode import Output, Send

# How long each choice is held: long enough to have an effect, and for people to follow.
CHOICE_S: Final = 0.25


class RandomAgent:
    """Holds one random choice after the other while an episode runs, as a service's listener hears.

    Between episodes it presses nothing, so as not to disturb the steps that lead to the next one.
    """

    def __init__(self, act: Callable[[Sequence[Event]], Awaitable[None]], choices: Sequence[Choice]) -> None:
        self._act = act
        self._choices = choices
        self._plays = False
        self._turned = asyncio.Event()

    def on_report(self, report: reports.Report) -> None:
        """Ignore reports."""

    def on_output(self, output: Output) -> None:
        """Note whether an episode runs."""
        match output:
            case Send(messages.Describe(env_state=state)):
                self._plays = state == "running"
                self._turned.set()
            case _:
                pass

    async def play(self) -> None:
        """Play until cancelled."""
        held: set[int] = set()
        while True:
            self._turned.clear()
            wanted = set(random.choice(self._choices).keys) if self._plays else set[int]()  # noqa: S311
            released = [KeyEvent(key, down=False) for key in held - wanted]
            try:
                await self._act([*released, *(KeyEvent(key, down=True) for key in wanted - held)])
                held = wanted
            except RequestError:
                # The screen is being started again: nobody can press anything, and nothing is down on the new one.
                held = set()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(CHOICE_S):
                    await self._turned.wait()
