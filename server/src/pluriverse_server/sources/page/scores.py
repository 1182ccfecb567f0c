"""From what a page says to the reports of its episode: changes of values are rewards. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pluriverse_protocol import reports

from pluriverse_server.manifest.game import RewardTable

from .values import Said


class Scores:
    """One episode's values, as last seen."""

    def __init__(self, rewards: Sequence[RewardTable]) -> None:
        self._rewards = rewards
        self._values: tuple[float, ...] = (0.0,) * len(rewards)
        self.running = False

    def reports(self, said: Said) -> list[reports.Report]:
        """What follows of it, in order. ``said`` is of this episode and tells of no fault."""
        earned = self._earn(said)
        told: list[reports.Report] = []
        if said.ready and not self.running:
            self.running = True
            told.append(reports.Ready(said.episode, picture=said.picture))
        if said.text:
            told.append(reports.Text(said.episode, said.text))
        if said.observation is not None:
            told.append(reports.Observation(said.episode, said.observation))
        if said.done is not None or said.truncated is not None:
            terminated = said.done is not None
            reason = (said.done if terminated else said.truncated) or ""
            earned += sum(
                value for value, table in zip(self._values, self._rewards, strict=True) if table.give == "end"
            )
            told.append(reports.Done(said.episode, earned, terminated, not terminated, reason, said.at))
        elif earned:
            told.append(reports.Reward(said.episode, earned, said.at))
        return told

    def _earn(self, said: Said) -> float:
        if said.values is None:
            return 0.0
        before, self._values = self._values, said.values
        # A page that was loaded anew within its episode begins to count anew as well.
        if said.ready:
            return 0.0
        return sum(
            now - then
            for now, then, table in zip(said.values, before, self._rewards, strict=True)
            if table.give == "change"
        )
