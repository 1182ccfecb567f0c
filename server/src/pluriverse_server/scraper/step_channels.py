"""The step channels of agents on the event loop, and what the episodes that are played on them have in common."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from pluriverse_protocol.reports import Done, Observation, Report, Reset, Reward, Text

from pluriverse_server.kit.lockstep import Lockstep, SlotsBeside, Steps, Waited, Work
from pluriverse_server.kit.outcome import Outcome
from pluriverse_server.permitted import Permitted, permitted_by
from pluriverse_server.tasks import start_task


class ReportedSteps:
    """An episode in lockstep of which reports tell: what it earns and shows beside its picture, and its end."""

    def __init__(self, reset: Reset) -> None:
        self.episode = reset.episode
        self.over = False
        self.permitted: Permitted | None = permitted_by(reset.spaces, ())
        self.text = ""
        self.observation: Any = None
        self.info: dict[str, Any] = {}
        """What is said beside its end."""
        self._reward = 0.0
        self._end = Outcome(0.0)

    def hear(self, *reports: Report) -> None:
        for report in reports:
            match report:
                case Text(text=text):
                    self.text = text
                case Observation(observation=observation):
                    self.observation = observation
                case Reward(reward=reward):
                    self._reward += reward
                case Done(reward=reward, terminated=terminated, truncated=truncated, reason=reason, info=info):
                    self.over, self.info = True, info
                    self._end = Outcome(0.0, terminated, truncated, reason)
                    self._reward += reward
                case _:
                    pass

    def take(self) -> Outcome:
        """Return what was heard since the last call."""
        outcome, self._reward = replace(self._end, reward=self._reward), 0.0
        return outcome


class StepChannels:
    def __init__(self, *, waits: bool = False, slots: SlotsBeside | None = None) -> None:
        """``waits``: episodes are played on the event loop. Else the event loop stands still while a step is played.

        ``slots``: those beside the program's own environment, if it has any.
        """
        self.turn = asyncio.Lock()
        """Held while a step is played that waits."""
        self._lockstep = Lockstep(slots)
        self._loop = asyncio.get_running_loop()
        self._listening: dict[int, Waited] = {}
        self._due: asyncio.Queue[Work] = asyncio.Queue()
        self._worker = start_task(self._do(), "steps") if waits else None
        self._listen()

    def asked(self, reset: Reset) -> None:
        """Note what the daemon has asked for, before it begins."""
        self._lockstep.asked(reset)
        self._listen()

    async def begin(self, episode: Steps | None) -> None:
        """Play this episode; None: in real time, or without one."""
        await self._lockstep.begin_async(episode)

    def close(self) -> None:
        if self._worker is not None:
            self._worker.cancel()
        self._lockstep.close()
        self._listen()

    def _listen(self) -> None:
        wanted = {each.fileno(): each for each in self._lockstep.waits_on}
        if wanted == self._listening:
            return
        for descriptor in self._listening:
            self._loop.remove_reader(descriptor)
        for descriptor, each in wanted.items():
            self._loop.add_reader(descriptor, self._attend, each)
        self._listening = wanted

    def _attend(self, readable: Waited) -> None:
        if self._worker is None:
            self._lockstep.attend([readable])
        else:
            for work in self._lockstep.due([readable]):
                self._due.put_nowait(work)
        self._listen()

    async def _do(self) -> None:
        while True:
            work = await self._due.get()
            # Done to its end even if the agent leaves: a page would go on with a step beside the next one's.
            async with self.turn:
                await work()
