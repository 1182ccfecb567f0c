"""One remote as a ``gymnasium.Env``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

import gymnasium
from gymnasium.envs.registration import EnvSpec

from pluriverse import validation
from pluriverse.adapters.core import Core
from pluriverse.adapters.info import Measured, Observations, check_measured, info_of
from pluriverse.adapters.lockstep import TooFewSlots
from pluriverse.adapters.pictures import Pixels
from pluriverse.adapters.snapshots import Snapshot
from pluriverse.errors import Misuse
from pluriverse.remotes import RemoteManager
from pluriverse.rewarder.result import Result

from .atari import Ale, frameskip_of, is_atari
from .gym_spaces import action_space, observation_space
from .shared import RENDER_MODES, Renderer, audio_metadata, drawn_seed, open_core, spec_of

if TYPE_CHECKING:
    from .vector import PluriverseVectorEnv

RESET_OPTIONS: Final = {"join", "env", "env_options"}


class PluriverseEnv(gymnasium.Env[Any, Any]):
    """A program on another machine, in real time: it doesn't wait while the agent thinks.

    An observation is a picture, uint8 (height, width, channels), RGB or grey, or ``{"vision": picture, "text": str,
    "observation": float32 array}`` with those parts that the environment has. An action is an integer where the
    environment has discrete actions, else ``{"pointer": …, "buttons": …, "keys": …}``, of gamepads with ``axes``
    instead of the pointer; see ``action_space``. ``info`` has the keys of docs/agents.md, and those that the program
    reports. Of Atari games there is ``ale``, with what Atari wrappers ask of it.
    """

    ale: Ale
    _spec: EnvSpec | None = None
    metadata: dict[str, Any] = {"render_modes": RENDER_MODES}  # noqa: RUF012 - Gymnasium declares it so

    def __init__(
        self,
        env_id: str | None = None,
        *,
        remotes: int | str | RemoteManager | None = 1,
        render_mode: str | None = None,
        measured: Measured | None = None,
        **options: Any,
    ) -> None:
        """Start or find the remote; blocks until it is there.

        Args:
            env_id: such as ``"gym-core.Pong-v3"``; None for whatever the remote plays.
            remotes: one, as in ``pluriverse.make``: ``1``, ``"local:1"``, ``"vnc://host:5900+15900?password=…"``.
            render_mode: ``"human"``, ``"rgb_array"`` or None.
            measured: "full": ``info`` has lags, counts, ids, states and what the program reports, as they come. True:
                numbers only, the same keys at every step, as in vectors. False: only what the program reports. None:
                "full", and in lockstep, where there are no lags, False.
            options: see ``shared.open_core``: ``actions`` ("auto", "discrete", "pads", "keys", "pointer" or "events"),
                ``size``, ``grey``, ``crop``, ``frame_skip``, ``fps``, ``max_episode_steps``, ``audio``, ``vnc``, …

        Raises:
            ConfigurationError: an option is wrong, or something is missing on this machine.
            RemoteUnavailable: the remote could not be started or reached.
        """
        if measured is None:
            measured = False if options.get("clock") == "lockstep" else "full"
        self._measured: Measured = check_measured(measured)
        validation.choice("render_mode", render_mode, (None, *RENDER_MODES))
        self._made_of: tuple[str | None, Any, dict[str, Any]] = env_id, remotes, options
        self.core: Core = open_core(env_id, remotes, 1, whole_screens=render_mode is not None, **options)
        self._renderer = Renderer(self.core)
        self._observations = Observations(self.core.spaces, self.core.pictures, self.core.audio_shape)
        if is_atari(self.core.actions):
            self.ale = Ale(self.core)
        # Atari wrappers that skip frames themselves look here whether anybody else does.
        self._frameskip = frameskip_of(self.core.described.env_id, options.get("frame_skip", 1))
        self.render_mode: str | None = render_mode
        self.metadata: dict[str, Any] = {**self.metadata, "render_fps": self.core.fps / options.get("frame_skip", 1)}
        self.metadata |= audio_metadata(self.core)
        self.observation_space: gymnasium.Space[Any] = observation_space(self.core)
        self.action_space: gymnasium.Space[Any] = action_space(self.core.actions)

    @property
    def spec(self) -> EnvSpec | None:
        """What it was made of; in lockstep not ``nondeterministic``, where the remote is exact."""
        return self._spec

    @spec.setter
    def spec(  # pyright: ignore[reportIncompatibleVariableOverride] - Gymnasium sets it
        self, spec: EnvSpec | None
    ) -> None:
        self._spec = spec_of(self.core, spec)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin an episode, wait for its first frame, and return ``(observation, info)``.

        The same seed begins the same episode where the program supports it. After a seeded episode, the seeds of
        later ones follow from it. ``options={"join": True}``: if the remote ended the last episode itself, take the one
        that it began then. ``{"env": ID, "env_options": OPTIONS}``: from now on play another environment of the
        remote's runtime, or with other options, without a start.

        Raises:
            Misuse: there is no such option, or the run is recorded.
            ConfigurationError: remotes do not take this seed, environment or option, or its spaces differ.
            RemoteFailed: no episode began.
        """
        options = validation.mapping("options", options)
        if not options.keys() <= RESET_OPTIONS:
            raise Misuse(f"reset has no options {sorted(options.keys() - RESET_OPTIONS)}; it has {RESET_OPTIONS}")
        seed = validation.seed(seed)
        join = bool(options.get("join")) and seed is None
        super().reset(seed=seed)
        if seed is None and not join:
            seed = drawn_seed(self._np_random)
        env_id, env_options = options.get("env"), options.get("env_options")
        if env_options is None and env_id in (None, self.core.described.env_id):
            self.core.reset(0, seed, join=join)
        else:
            self.core.change(env_id, env_options, seed=seed, alike=True)
            _, remotes, made = self._made_of
            asked = self.core.env.asked
            self._made_of = asked.env_id, remotes, {**made, "env_options": asked.options}
        return self._receive()[:2]

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Act at once, and return ``(observation, reward, terminated, truncated, info)``.

        The observation is the newest frame that the agent has not seen yet: one that came while it was thinking, or
        else the next. The reward is the sum since the last step. ``terminated``: an outcome; ``truncated``: a time
        limit, another client's reset, or a lost remote. After a call that was interrupted, as by Ctrl-C, this one
        gives its answer, and ignores ``action``.

        Raises:
            ActionError: the action is invalid; nothing was sent.
            ResetNeeded: there is no episode to act in.
        """
        if not self.core.owes:
            self.core.send({0: action})
        observation, info, result = self._receive()
        return observation, result.reward, result.terminated, result.truncated, info

    def replay(self, actions: Iterable[Any], seed: int) -> Iterator[tuple[Any, float, bool, bool, dict[str, Any]]]:
        """Play an episode again from its start: yield what ``step`` returned, for the reset and for each action.

        Raises:
            ConfigurationError: it is in real time, or the remote isn't exact.
        """
        for result in self.core.replay(0, actions, seed):
            observation, info, _ = self._receive()
            yield observation, result.reward, result.terminated, result.truncated, info

    def snapshot(self, name: str | None = None) -> Snapshot:
        """Return the present moment, for ``restore``; for a wrapper's own counts and frames it does nothing.

        With a ``name`` the remote keeps it under that when this environment is gone, too, until ``release``.

        Raises:
            ConfigurationError: it is in real time, or the remote isn't exact.
            ResetNeeded: there is no episode.
            Misuse: see ``Core.snapshot``.
        """
        return self.core.snapshot(0, name)

    def release(self, name: str) -> None:
        """Have the remote keep the snapshot of that name no more.

        Raises:
            ConfigurationError: it is in real time, or the remote isn't exact.
            ResetNeeded: there is no episode.
        """
        self.core.release(0, name)

    def restore(self, snapshot: Snapshot | str) -> tuple[Any, dict[str, Any]]:
        """Go back to a snapshot or that of a name, and return ``(observation, info)`` of then; the episode may be over.

        Raises:
            ConfigurationError: it is in real time, or the snapshot is of another environment.
            RemoteFailed: it came to something else.
        """
        self.core.restore_all([snapshot])
        return self._receive()[:2]

    def fork(self, n: int, remotes: int | str | RemoteManager | None = None) -> PluriverseVectorEnv:
        """Return a vector of ``n`` environments, made as this one, that are all where this one is.

        They are in slots of the same remote, if it has as many, and end with this environment. ``remotes``: others, as
        many, which play the episode again until then; so do new ones where there are too few slots.

        Raises:
            ConfigurationError: it is in real time, or as ``__init__``.
            RemoteUnavailable: as ``__init__``.
            RemoteFailed: one came to something else.
        """
        from .vector import PluriverseVectorEnv

        snapshot = self.snapshot()
        env_id, mine, given = self._made_of
        options = {name: value for name, value in given.items() if name != "record"}
        try:
            core = self.core.beside(validation.integer("n", n, 1)) if remotes is None else None
        except TooFewSlots:
            core = None
        remotes = _as_many(mine, n) if remotes is None else remotes
        forked = PluriverseVectorEnv(core or env_id, num_envs=n, remotes=remotes, measured=self._measured, **options)
        try:
            forked.restore([snapshot] * n)
        except BaseException:
            forked.close()
            raise
        return forked

    def render(self) -> Pixels | None:  # pyright: ignore[reportIncompatibleMethodOverride] - one mode at a time
        """Return the last picture, uint8 (height, width, 3), in the mode ``rgb_array``; ``human`` shows by itself.

        Raises:
            ResetNeeded: there was no reset yet.
        """
        return self._renderer.picture(0) if self.render_mode == "rgb_array" else None

    def get_action_meanings(self) -> list[str]:
        """Return the names of the discrete actions: of Atari games ale-py's, such as ``["NOOP", "FIRE", "UP"]``.

        Raises:
            Misuse: actions are of another kind.
        """
        actions = self.core.actions
        if actions.kind != "discrete":
            raise Misuse(f"only discrete actions have names; these are of kind {actions.kind!r}")
        return [choice.name for choice in actions.choices]

    def close(self) -> None:
        """Disconnect, and remove the remote if it was started here; may be called repeatedly."""
        self._renderer.close()
        self.core.close()

    def _receive(self) -> tuple[Any, dict[str, Any], Result]:
        """Wait for the answer to what was asked; return the observation, the info, and all of it."""
        core = self.core
        core.receive_all()
        if self.render_mode == "human":
            self._renderer.show()
        result = core.result(0)
        info = info_of(result, self._measured)
        if core.actions.kind == "events" and self._measured is not True:
            info["ignored"] = list(core.ignored(0))
        given = self._observations.make(result, copy=True), info, result
        core.owes = False
        return given


def _as_many(remotes: int | str | RemoteManager | None, n: int) -> int | str:
    """Return what stands for ``n`` remotes that are started as ``remotes`` are, such as ``"local:2"``."""
    kind = re.fullmatch(r"(\w+:)\d+", remotes) if isinstance(remotes, str) else None
    return n if kind is None else f"{kind[1]}{n}"
