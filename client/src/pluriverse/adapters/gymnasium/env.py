"""One remote as a ``gymnasium.Env``."""

from __future__ import annotations

from typing import Any, Final

import gymnasium

from pluriverse.adapters.pictures import Pixels
from pluriverse.errors import Misuse
from pluriverse.remotes import RemoteManager

from .infos import info_of
from .observations import Observer
from .opening import checked_seed, drawn_seed, open_core
from .pictures import RENDER_MODES, Renderer
from .spaces import action_space, observation_space

RESET_OPTIONS: Final = {"join"}


class PluriverseEnv(gymnasium.Env[Any, Any]):
    """A program on another machine, in real time: it doesn't wait while the agent thinks.

    An observation is a picture, uint8 (height, width, channels), or ``{"vision": picture, "text": str, "observation":
    float32 array}`` with those that the environment has. An action is of ``action_space``: by default an integer where
    the environment has a choice of actions, else ``{"pointer": …, "buttons": …, "keys": …}``.

    ``info`` has what docs/agents.md says, ``lost`` (whether the remote broke), and what the program tells.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES}  # noqa: RUF012 - Gymnasium declares it so

    def __init__(
        self,
        env_id: str | None = None,
        *,
        remotes: int | str | RemoteManager = 1,
        render_mode: str | None = None,
        measured: bool = True,
        **options: Any,
    ) -> None:
        """Start or find the remote; blocks until it is there.

        Args:
            env_id: such as ``gym-core.Pong-v3``; None for whatever the remote plays.
            remotes: one, as ``pluriverse.make`` takes it: ``1``, ``"local:1"``, ``"vnc://host:5900+15900?password=…"``.
            render_mode: ``"human"``, ``"rgb_array"`` or None.
            measured: whether ``info`` has lags, counts, ids and times, or just what the program tells.
            options: see ``opening.open_core``: ``actions`` ("auto", "discrete", "keys", "pointer" or "events"),
                ``size``, ``grey``, ``crop``, ``frame_skip``, ``fps``, ``max_episode_steps``, ``vnc``, …

        Raises:
            ConfigurationError: what is asked for can't be had; says what mends it.
            RemoteUnavailable: the remote could not be started or reached.
        """
        self.core = open_core(env_id, remotes, 1, **options)
        try:
            self._renderer = Renderer(self.core, render_mode)
        except BaseException:
            self.core.close()
            raise
        self._observer = Observer(self.core)
        self._measured = measured
        self.render_mode = render_mode
        self.metadata = {**self.metadata, "render_fps": self.core.fps / options.get("frame_skip", 1)}
        self.observation_space = observation_space(self.core)
        self.action_space = action_space(self.core.actions)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode; blocks until its first running frame, and returns it as ``(observation, info)``.

        The same seed begins the same episode where the program can. After a seeded episode, the seeds of those that
        are reset without one follow from it. ``options={"join": True}`` takes the episode that began by itself when the
        last one ended, where there is one.

        Raises:
            Misuse: there is no such option, or the seed is out of range.
            RemoteFailed: no episode began.
        """
        options = options or {}
        if not options.keys() <= RESET_OPTIONS:
            raise Misuse(f"reset has no options {sorted(options.keys() - RESET_OPTIONS)}; it has {RESET_OPTIONS}")
        join = bool(options.get("join")) and seed is None
        super().reset(seed=checked_seed(seed) if seed is not None else None)
        if seed is None and not join:
            seed = drawn_seed(self._np_random)
        self.core.reset(0, seed, join=join)
        return self._receive()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Act at once, and return ``(observation, reward, terminated, truncated, info)``.

        The observation is the newest frame that the agent has not been given yet: one that came while it was thinking,
        or else the next. What was earned since the last step adds up. ``terminated``: an outcome; ``truncated``: a
        limit of time, somebody else's reset, or a remote that broke.

        Raises:
            ActionError: it is no action; nothing was sent.
            ResetNeeded: there is no episode to act in.
        """
        self.core.send({0: action})
        observation, info = self._receive()
        turn = self.core.result(0)
        return observation, turn.reward, turn.terminated, turn.truncated, info

    def render(self) -> Pixels | None:  # pyright: ignore[reportIncompatibleMethodOverride] - one mode at a time
        """``rgb_array``: the last picture, uint8 (height, width, 3); ``human`` is shown by ``reset`` and ``step``.

        Raises:
            ResetNeeded: there was no reset yet.
        """
        return self._renderer.picture(0) if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        """Hang up, and remove the remote if it was started here; may be called repeatedly."""
        self._renderer.close()
        self.core.close()

    def _receive(self) -> tuple[Any, dict[str, Any]]:
        self.core.receive(1)
        self._renderer.show()
        return self._observer.one(0), info_of(self.core.result(0), measured=self._measured)
