"""dm_env's interface: one remote as a ``dm_env.Environment``.

env = pluriverse.adapters.dm_env.load("gym-core.PongDeterministic-v3", remotes="local:1")
time_step = env.reset()
while not time_step.last():
    time_step = env.step(env.action_spec().generate_value())
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from pluriverse import validation
from pluriverse.errors import ConfigurationError, needed
from pluriverse.rewarder.result import Result
from pluriverse.vnc.keys import key_name

from .actions import ActionMap
from .backend import Phase
from .core import Core
from .info import Observations
from .pictures import PictureOptions

with needed("dm_env", extra="dm_env"):
    import dm_env
    from dm_env import specs

OUTCOME: Final = 0.0
GOES_ON: Final = 1.0


class DmEnvironment(dm_env.Environment):
    """One remote, in real time: it goes on between two calls.

    An outcome ends an episode with discount 0; a limit, or a remote that was lost, with discount 1. The step after an
    episode's last begins the next one, and its action is ignored. ``last_info`` has the lags of the last step and
    what docs/agents.md lists, and ``error`` where the remote was lost.
    """

    def __init__(self, core: Core, seed: int | None = None) -> None:
        """``core`` has one remote, and is closed with this. ``seed`` is the first episode's.

        Raises:
            ConfigurationError: it has several.
        """
        if core.n != 1:
            raise ConfigurationError(f"a dm_env.Environment is one environment; expected one remote, got {core.n}")
        self.core = core
        self._seed = validation.seed(seed)
        self._observations = Observations(core.spaces, core.pictures, core.audio_shape)
        self._began = core.owes = False
        self._result: Result | None = None

    @property
    def last_info(self) -> dict[str, Any]:
        """The ``info`` of the last step, a new dict."""
        return self._result.full_info() if self._result is not None else {}

    def reset(self) -> dm_env.TimeStep:
        """Begin an episode, and wait for its first frame.

        Raises:
            RemoteFailed: none came.
        """
        self._ask_to_begin(join=False)
        return self._answer()

    def step(self, action: Any) -> dm_env.TimeStep:
        """Act, and wait for the newest frame that was not given before; ``action`` as ``action_spec`` says.

        After a call that was interrupted, as by Ctrl-C, this one gives its answer, and ignores the action.

        Raises:
            ActionError: it isn't one.
            RemoteFailed: nothing came.
        """
        core = self.core
        if core.owes:
            pass
        elif core.phase(0) in (Phase.NEW, Phase.ENDED) or not self._began:
            self._ask_to_begin(join=self._began)
        else:
            core.send({0: action})
        return self._answer()

    def observation_spec(self) -> Any:
        """An array of the picture, or a dict of ``vision``, ``text``, ``observation`` and ``audio``."""
        parts = {name: self._part(name) for name in self._observations.names}
        return parts if len(parts) > 1 else parts["vision"]

    def action_spec(self) -> Any:
        """Of one number, of a bit for each key, or a dict of arrays, such as ``pointer``, ``buttons`` and ``keys``."""
        return action_spec(self.core.actions)

    def reward_spec(self) -> specs.Array:
        """One float: what was earned since the last step."""
        return specs.Array((), float, "reward")

    def discount_spec(self) -> specs.BoundedArray:
        """0 with an outcome, else 1."""
        return specs.BoundedArray((), float, OUTCOME, GOES_ON, "discount")

    def close(self) -> None:
        """Let go of the remote; may be called repeatedly."""
        self.core.close()

    def _ask_to_begin(self, *, join: bool) -> None:
        self.core.reset(0, self._seed, join=join)
        self._seed = None

    def _answer(self) -> dm_env.TimeStep:
        """Wait for the answer to what was asked, and return it."""
        self.core.receive_all()
        turn = self._result = self.core.result(0)
        observation = self._observations.make(turn)
        self._began, self.core.owes = True, False
        if turn.first:
            return dm_env.restart(observation)
        if turn.terminated:
            return dm_env.termination(turn.reward, observation)
        if turn.truncated:
            return dm_env.truncation(turn.reward, observation, discount=GOES_ON)
        return dm_env.transition(turn.reward, observation, discount=GOES_ON)

    def _part(self, name: str) -> specs.Array:
        if name == "vision":
            return specs.BoundedArray(self.core.pictures.shape, np.uint8, 0, 255, name)
        if name == "text":
            return specs.StringArray((), str, name)
        if name == "audio" and self.core.audio_shape is not None:
            return specs.Array(self.core.audio_shape, np.int16, name)
        assert self._observations.state_shape is not None
        return specs.Array(self._observations.state_shape, np.float32, name)


def action_spec(actions: ActionMap) -> Any:
    """Return the specs of the actions that a remote takes; raise ``ConfigurationError`` for lists of events.

    As in dm_control, the name of an array is those of its numbers, with tabs between them.
    """
    if actions.kind == "discrete":
        return specs.DiscreteArray(actions.n, np.int32, "action")
    keys = "\t".join(map(key_name, actions.keys))
    buttons = ("left", "middle", "right") if actions.kind == "pointer" else actions.pad_buttons
    names = {
        "pointer": "x\ty",
        "axes": "\t".join(actions.axes),
        "buttons": "\t".join(buttons),
        "keys": keys,
        "submit": "submit",
    }
    parts = {
        name: specs.BoundedArray(part.shape, part.kind or np.int32, part.least, part.most, names[name])
        for name, part in actions.arrays().items()
    }
    return parts if len(parts) > 1 else next(iter(parts.values()))


def load(
    env_id: str | None,
    remotes: Any = 1,
    *,
    seed: int | None = None,
    size: tuple[int, int] | None = None,
    grey: bool = False,
    crop: tuple[int, int, int, int] | None = None,
    actions: Any = "auto",
    max_episode_steps: int | None = None,
    **options: Any,
) -> DmEnvironment:
    """Start or find one remote, and give it as a ``dm_env.Environment``.

    Args:
        env_id: such as ``"gym-core.PongDeterministic-v3"``; None: whatever the remote plays.
        remotes: where it runs, as in ``pluriverse.make``.
        seed: the first episode's.
        size: (height, width) to resize pictures to; None: as they are.
        grey: one channel instead of three.
        crop: (x, y, width, height) of the screen; None: what the environment draws on.
        actions: ``"discrete"``, ``"keys"`` or ``"pointer"``; ``"auto"`` takes the first that there is.
        max_episode_steps: a time limit, which ends episodes with discount 1; None: only the remote's own.
        options: those of ``pluriverse.make``.

    Raises:
        ConfigurationError: what is asked for isn't available.
        RemoteUnavailable: the remote could not be started or reached.
    """
    seed = validation.seed(seed)
    core = Core(
        env_id,
        remotes,
        actions=actions,
        pictures=PictureOptions(crop=crop, size=size, grey=grey),
        max_episode_steps=max_episode_steps,
        **options,
    )
    try:
        action_spec(core.actions)
        return DmEnvironment(core, seed)
    except ConfigurationError:
        core.close()
        raise
