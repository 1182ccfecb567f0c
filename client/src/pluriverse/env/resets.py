"""What a remote is asked for when it is reset, or when it comes back."""

from __future__ import annotations

from pluriverse_protocol.messages import Reset

from pluriverse.rewarder.connection import RewarderConnection


class Resets:
    """Shared by the thread that steps and the one that connects. ``wanted``: the agent has asked for its first reset.

    ``seeds`` has one for each index; each is used once, so that no later episode is the same one again.
    """

    def __init__(self, env_id: str | None, fps: float | None) -> None:
        self.wanted = False
        self.seeds: list[int | None] = []
        self._env_id = env_id
        self._fps = fps

    def make(self, index: int, rewarder: RewarderConnection) -> Reset:
        """The reset of ``index``: of the environment that the agent named, else of the one that the remote plays."""
        env_id = self._env_id
        if env_id is None:
            assert rewarder.described is not None
            env_id = rewarder.described.env_id
        seed, self.seeds[index] = self.seeds[index], None
        return Reset(env_id, seed, self._fps)
