"""Several remotes as a ``gymnasium.vector.VectorEnv``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, iterate
from numpy.typing import NDArray

from pluriverse.adapters.core import Core
from pluriverse.adapters.pictures import Pixels
from pluriverse.adapters.player import Phase
from pluriverse.errors import Misuse
from pluriverse.remotes import RemoteManager

from .infos import batch_infos, info_of
from .observations import Observer
from .opening import drawn_seed, generator_of, open_core
from .pictures import RENDER_MODES, Renderer
from .spaces import action_space, observation_space

Infos = dict[int, dict[str, Any]]


class PluriverseVectorEnv(VectorEnv[Any, Any, NDArray[Any]]):
    """``num_envs`` remotes that play the same environment, each in its own time; a step waits for all of them.

    Observations, actions, rewards and infos are batches of ``PluriverseEnv``'s. Episodes that end are followed by the
    next as ``autoreset_mode`` says. Where no seed was given, that is the one that began by itself on the remote.
    """

    single_observation_space: gymnasium.Space[Any]
    single_action_space: gymnasium.Space[Any]
    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]

    core: Core
    """What all is done with."""

    def __init__(
        self,
        env_id: str | None = None,
        *,
        num_envs: int = 1,
        remotes: int | str | RemoteManager | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        render_mode: str | None = None,
        measured: bool = True,
        **options: Any,
    ) -> None:
        """Start or find the remotes; blocks until they are there.

        Args:
            env_id: such as ``gym-core.Pong-v3``; None for whatever the remotes play.
            num_envs: how many.
            remotes: as ``pluriverse.make`` takes it, ``num_envs`` of them; None: start them.
            autoreset_mode: ``NextStep``, ``SameStep`` or ``Disabled``.
            copy: whether observations are arrays of their own, or the same ones each time, filled anew.
            render_mode: ``"human"``, ``"rgb_array"`` or None.
            measured: whether ``infos`` have lags, counts, ids and times, or just what the program tells.
            options: see ``PluriverseEnv``.

        Raises:
            ConfigurationError: what is asked for can't be had; says what mends it.
            RemoteUnavailable: a remote could not be started or reached.
        """
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        core = open_core(env_id, remotes, num_envs, **options)
        try:
            self._renderer = Renderer(core, render_mode)
        except BaseException:
            core.close()
            raise
        self.core = core
        self._observer = Observer(core)
        self._copy = copy
        self._measured = measured
        self._generators: list[np.random.Generator | None] = [None] * num_envs
        self.num_envs = num_envs
        self.render_mode = render_mode
        self.metadata = {
            "autoreset_mode": self.autoreset_mode,
            "render_modes": RENDER_MODES,
            "render_fps": core.fps / options.get("frame_skip", 1),
        }
        self.single_observation_space = observation_space(core)
        self.single_action_space = action_space(core.actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(  # pyright: ignore[reportIncompatibleMethodOverride] - as SyncVectorEnv has it
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode everywhere; blocks until all have their first running frames.

        ``seed``: environment ``i`` gets ``seed + i``, or ``seed[i]``. ``options={"reset_mask": mask}``, booleans of
        shape ``(num_envs,)``: only these; the others' observations are what they were, and infos have none of them.

        Raises:
            Misuse: there is no such option, or seeds or mask are no such.
            RemoteFailed: an episode didn't begin.
        """
        chosen = self._masked(options or {})
        for index, one in self._seeds(seed).items():
            if index in chosen and one is not None:
                self._generators[index] = generator_of(one)
                self.core.reset(index, one)
            elif index in chosen:
                self.core.reset(index, drawn_seed(self._generators[index]))
        infos: Infos = {}
        while chosen:
            (index,) = self.core.receive(1)
            chosen.discard(index)
            infos[index] = self._taken(index)
        return self._observed(), batch_infos(self.num_envs, sorted(infos.items()))

    def step(self, actions: Any) -> tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Act everywhere at once, and wait until every environment has answered.

        Returns observations, rewards (float64), terminations and truncations (booleans), each of shape ``(num_envs,
        …)``, and infos. See ``PluriverseEnv.step``; of an episode that is over:

        - ``NextStep``: this returns its last observation; the next step ignores the action and returns the first of the
          next episode, with reward 0.
        - ``SameStep``: this returns the first observation of the next, and the last in ``infos["final_obs"]``, with
          ``infos["final_info"]``.
        - ``Disabled``: this returns its last observation; it has to be reset before the next step.

        An episode begins when its remote is there: after one broke, this can take seconds, and all wait.

        Raises:
            ActionError: an action isn't one; nothing was sent to any.
            ResetNeeded: there is no episode to act in.
            Misuse: there aren't ``num_envs`` actions.
        """
        core = self.core
        listed: list[Any] = list(iterate(self.action_space, actions))
        if len(listed) != self.num_envs:
            raise Misuse(f"there are {len(listed)} actions for {self.num_envs} environments; expected one for each")
        over = [i for i in range(self.num_envs) if core.phase(i) is Phase.ENDED]
        if self.autoreset_mode is AutoresetMode.DISABLED:
            over = []
        core.send({index: action for index, action in enumerate(listed) if index not in over})
        for index in over:
            self._restart(index)
        rewards = np.zeros(self.num_envs, np.float64)
        terminations, truncations = np.zeros((2, self.num_envs), np.bool_)
        infos: Infos = {}
        waiting = self.num_envs
        while waiting:
            (index,) = core.receive(1)
            turn = core.result(index)
            if not turn.first:
                rewards[index], terminations[index], truncations[index] = turn.reward, turn.terminated, turn.truncated
                if self.autoreset_mode is AutoresetMode.SAME_STEP and core.phase(index) is Phase.ENDED:
                    final = info_of(turn, measured=self._measured)
                    infos[index] = {"final_obs": self._observer.one(index), "final_info": final}
                    self._restart(index)
                    continue
            infos[index] = {**infos.get(index, {}), **self._taken(index)}
            waiting -= 1
        return (
            self._observed(),
            rewards,
            terminations,
            truncations,
            batch_infos(self.num_envs, sorted(infos.items())),
        )

    def render(self) -> tuple[Pixels, ...] | None:
        """``rgb_array``: the last pictures. ``human`` shows the first environment, by itself.

        Raises:
            ResetNeeded: there was no reset yet.
        """
        if self.render_mode != "rgb_array":
            return None
        return tuple(self._renderer.picture(index) for index in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """Hang up, and remove the remotes that were started here."""
        # Gymnasium closes also what could not be made.
        if hasattr(self, "core"):
            self._renderer.close()
            self.core.close()

    def _restart(self, index: int) -> None:
        seed = drawn_seed(self._generators[index])
        self.core.reset(index, seed, join=seed is None)

    def _taken(self, index: int) -> dict[str, Any]:
        self._observer.take(index)
        return info_of(self.core.result(index), measured=self._measured)

    def _observed(self) -> Any:
        self._renderer.show()
        return self._observer.batch(copy=self._copy)

    def _seeds(self, seed: int | Sequence[int | None] | None) -> dict[int, int | None]:
        if seed is None or isinstance(seed, int | np.integer):
            seeds = [None if seed is None else int(seed) + index for index in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise Misuse(f"there are {len(seeds)} seeds for {self.num_envs} environments; expected one for each")
        return dict(enumerate(seeds))

    def _masked(self, options: dict[str, Any]) -> set[int]:
        if not options.keys() <= {"reset_mask"}:
            raise Misuse(f"reset has no options {sorted(options.keys() - {'reset_mask'})}; it has reset_mask")
        everyone: Iterable[int] = range(self.num_envs)
        if "reset_mask" not in options:
            return set(everyone)
        given = options["reset_mask"]
        mask = np.asarray(given)
        if not (mask is given and mask.dtype == np.bool_ and mask.shape == (self.num_envs,)):
            raise Misuse(f"reset_mask is {given!r:.80}; expected a NumPy array of {self.num_envs} booleans")
        chosen = {index for index in everyone if mask[index]}
        if not chosen:
            raise Misuse("reset_mask chooses no environment; expected one at least")
        if any(self.core.phase(index) is Phase.NEW for index in everyone if index not in chosen):
            raise Misuse("the first reset is one of all environments; leave reset_mask out")
        return chosen
