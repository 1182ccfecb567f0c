"""Several remotes as a ``gymnasium.vector.VectorEnv``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, iterate
from numpy.typing import NDArray

from pluriverse import validation
from pluriverse.adapters.backend import Phase
from pluriverse.adapters.core import Core
from pluriverse.adapters.info import Measured, check_measured, info_of
from pluriverse.adapters.pictures import Pixels
from pluriverse.adapters.snapshots import Snapshot
from pluriverse.errors import ActionError, Misuse
from pluriverse.remotes import RemoteManager
from pluriverse.rewarder.result import Result

from .batches import ObservationBatch, batch_infos, infos_of
from .gym_spaces import action_space, observation_space
from .shared import RENDER_MODES, Renderer, audio_metadata, drawn_seed, generator_of, open_core, spec_of

Infos = dict[int, dict[str, Any]]


class PluriverseVectorEnv(VectorEnv[Any, Any, NDArray[Any]]):
    """``num_envs`` remotes that play the same environment; a step waits for all of them.

    Observations, actions, rewards and infos are batches of ``PluriverseEnv``'s. The next episode begins as
    ``autoreset_mode`` says; without a seed it is the one that the remote began by itself.
    """

    single_observation_space: gymnasium.Space[Any]
    single_action_space: gymnasium.Space[Any]
    observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]

    core: Core
    _spec: EnvSpec | None = None

    def __init__(
        self,
        env_id: str | Core | None = None,
        *,
        num_envs: int = 1,
        remotes: int | str | RemoteManager | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        render_mode: str | None = None,
        measured: Measured = True,
        **options: Any,
    ) -> None:
        """Start or find the remotes; blocks until they are there.

        Args:
            env_id: such as ``"gym-core.Pong-v3"``; None for whatever the remotes play; or a core of such environments.
            num_envs: how many.
            remotes: ``num_envs`` of them, as in ``pluriverse.make``; None: start them.
            autoreset_mode: ``NextStep``, ``SameStep`` or ``Disabled``.
            copy: whether observations are new arrays, or the same ones each time, refilled.
            render_mode: ``"human"``, ``"rgb_array"`` or None.
            measured: True: ``infos`` have numbers, lags and counts among them, the same keys at every step. "full":
                ids, texts, states and what the program reports, too; so has ``final_info``. False: only the latter.
            options: see ``PluriverseEnv``.

        Raises:
            ConfigurationError: an option is wrong, or something is missing on this machine.
            RemoteUnavailable: a remote could not be started or reached.
        """
        if not isinstance(autoreset_mode, AutoresetMode):
            validation.choice("autoreset_mode", autoreset_mode, [mode.value for mode in AutoresetMode])
        self.autoreset_mode: AutoresetMode = AutoresetMode(autoreset_mode)
        self._measured: Measured = check_measured(measured)
        validation.choice("render_mode", render_mode, (None, *RENDER_MODES))
        copy = validation.flag("copy", copy)
        if not isinstance(env_id, Core):
            env_id = open_core(env_id, remotes, num_envs, whole_screens=render_mode is not None, **options)
        self.core = core = env_id
        self._renderer = Renderer(core)
        self._batch = ObservationBatch(core)
        self._copy = copy
        self._generators: list[np.random.Generator | None] = [None] * num_envs
        # Episodes that ended in a step that isn't over: the next ones begin in the same step.
        self._ends: dict[int, Result] = {}
        self._finals: Infos = {}
        self.num_envs: int = num_envs
        self.render_mode: str | None = render_mode
        self.metadata: dict[str, Any] = {
            "autoreset_mode": self.autoreset_mode,
            "render_modes": RENDER_MODES,
            "render_fps": core.fps / options.get("frame_skip", 1),
            **audio_metadata(core),
        }
        self.single_observation_space = observation_space(core)
        self.single_action_space = action_space(core.actions)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    @property
    def spec(self) -> EnvSpec | None:
        """What it was made of; in lockstep not ``nondeterministic``, where the remote is exact."""
        return self._spec

    @spec.setter
    def spec(  # pyright: ignore[reportIncompatibleVariableOverride] - Gymnasium sets it
        self, spec: EnvSpec | None
    ) -> None:
        self._spec = spec_of(self.core, spec)

    def reset(  # pyright: ignore[reportIncompatibleMethodOverride] - as SyncVectorEnv has it
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode everywhere, and wait for the first frames; return ``(observations, infos)``.

        ``seed``: environment ``i`` gets ``seed + i``, or ``seed[i]``. ``options={"reset_mask": mask}``, booleans of
        shape ``(num_envs,)``: only these; the others' observations stay, and infos have none of them.

        Raises:
            Misuse: there is no such option, or the mask is invalid.
            ConfigurationError: the seeds are invalid.
            RemoteFailed: an episode didn't begin.
        """
        chosen = self._masked(validation.mapping("options", options))
        seeds = validation.seeds(seed, self.num_envs)
        with self.core.whole:
            self._ends, self._finals = {}, {}
            for index, one in enumerate(seeds):
                if index in chosen and one is not None:
                    self._generators[index] = generator_of(one)
                    self.core.reset(index, one)
                elif index in chosen:
                    self.core.reset(index, drawn_seed(self._generators[index]))
        self.core.receive_all()
        answer = self._answer(sorted(chosen))[:2]
        self.core.owes = False
        return answer

    def step(self, actions: Any) -> tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Act everywhere at once, and wait until every environment has answered; see ``PluriverseEnv.step``.

        Returns observations, rewards (float64), terminations and truncations (booleans), each of shape ``(num_envs,
        …)``, and infos. Where an episode is over, and the mode is

        - ``NextStep``: the observation is its last; the next step ignores the action, and returns the first observation
          of the next episode, with reward 0.
        - ``SameStep``: the observation is the first of the next episode; the last is in ``infos["final_obs"]``, with
          ``infos["final_info"]``.
        - ``Disabled``: the observation is its last, and it has to be reset before the next step.

        After a remote broke, it can take seconds until its next episode begins, and all wait. After a call that was
        interrupted, as by Ctrl-C, this one gives its answer, and ignores ``actions``.

        Raises:
            ActionError: an action is invalid; nothing was sent to any.
            ResetNeeded: there is no episode to act in.
            Misuse: there aren't ``num_envs`` actions.
        """
        core = self.core
        if not core.owes:
            self._act(actions)
        core.receive_all()
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            with core.whole:
                for index in core.ended():
                    if index not in self._ends:
                        self._ends[index] = result = core.result(index)
                        finals = {"final_obs": self._batch.one(result), "final_info": self._final_info(result)}
                        self._finals[index] = finals
                        self._restart(index)
            core.receive_all()
        observations, infos, results = self._answer(range(self.num_envs))
        if self._ends:
            results = [self._ends.get(index, result) for index, result in enumerate(results)]
            infos |= batch_infos(self.num_envs, self._finals.items())
        rewards = np.array([result.reward for result in results], np.float64)
        terminations = np.array([result.terminated for result in results], np.bool_)
        truncations = np.array([result.truncated for result in results], np.bool_)
        self._ends, self._finals = {}, {}
        core.owes = False
        return observations, rewards, terminations, truncations, infos

    def replay(
        self, actions: Iterable[Any], seed: int | Sequence[int]
    ) -> Iterator[tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]]:
        """Play again from a seeded reset: yield what ``step`` returned, for the reset and for each of ``actions``.

        Raises:
            ConfigurationError: it is in real time, or a remote isn't exact.
        """
        self.core.require_exact("played again")
        observations, infos = self.reset(seed=seed)
        rewards, no = np.zeros(self.num_envs, np.float64), np.zeros(self.num_envs, np.bool_)
        yield observations, rewards, no, no.copy(), infos
        for each in actions:
            yield self.step(each)

    def snapshot(self) -> list[Snapshot]:
        """Return the present moment of each environment; see ``PluriverseEnv.snapshot``."""
        return [self.core.snapshot(index) for index in range(self.num_envs)]

    def restore(self, snapshots: Sequence[Snapshot | str]) -> tuple[Any, dict[str, Any]]:
        """Take each environment to a snapshot, its own or another's; return the ``(observations, infos)`` of then.

        Raises:
            Misuse: there aren't ``num_envs`` of them.
            ConfigurationError: it is in real time, or a snapshot is of another environment.
            RemoteFailed: one came to something else.
        """
        if len(snapshots) != self.num_envs:
            raise Misuse(f"{len(snapshots)} snapshots for {self.num_envs} environments; expected one for each")
        self.core.restore_all(snapshots)
        answer = self._answer(range(self.num_envs))[:2]
        self.core.owes = False
        return answer

    def render(self) -> tuple[Pixels, ...] | None:
        """Return the last pictures, in the mode ``rgb_array``; ``human`` shows the first environment by itself.

        Raises:
            ResetNeeded: there was no reset yet.
        """
        if self.render_mode != "rgb_array":
            return None
        return tuple(self._renderer.picture(index) for index in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:
        """Disconnect, and remove the remotes that were started here."""
        # Gymnasium also closes what could not be made.
        if hasattr(self, "core"):
            self._renderer.close()
            self.core.close()

    def _act(self, actions: Any) -> None:
        """Send the actions, or begin the next episode where one is over and that is due now."""
        core = self.core
        try:
            # Of an array much faster.
            if type(actions) is np.ndarray:
                each: list[Any] = actions.tolist() if actions.ndim == 1 else list(actions)
            else:
                each = [*iterate(self.action_space, actions)]
        except (TypeError, ValueError, LookupError) as error:
            raise ActionError(f"the actions are {actions!r:.80}; expected one for each environment: {error}") from None
        if len(each) != self.num_envs:
            raise Misuse(f"there are {len(each)} actions for {self.num_envs} environments; expected one for each")
        sent = dict(enumerate(each))
        over = [] if self.autoreset_mode is AutoresetMode.DISABLED else core.ended()
        with core.whole:
            for index in over:
                del sent[index]
            core.send(sent)
            for index in over:
                self._restart(index)

    def _restart(self, index: int) -> None:
        seed = drawn_seed(self._generators[index])
        self.core.reset(index, seed, join=seed is None)

    def _answer(self, indices: Sequence[int]) -> tuple[Any, dict[str, Any], list[Result]]:
        """Return what all have answered: observations, the infos of ``indices``, and results."""
        if self.render_mode == "human":
            self._renderer.show()
        results = self.core.results()
        infos = infos_of(self.num_envs, {index: results[index] for index in indices}, self._measured)
        if self.core.actions.kind == "events" and self._measured is not True:
            ignored = ((index, {"ignored": list(self.core.ignored(index))}) for index in indices)
            infos |= batch_infos(self.num_envs, ignored)
        return self._batch.observations(results, copy=self._copy), infos, results

    def _final_info(self, result: Result) -> dict[str, Any]:
        # In lockstep nothing is measured, and a run repeats with its infos.
        info = info_of(result, "full" if self._measured and not self.core.exact else False)
        # TorchRL makes tensors of it, which it can't of nothing.
        return {key: value for key, value in info.items() if value is not None}

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
            raise Misuse("reset_mask selects no environment; expected at least one")
        if any(self.core.phase(index) is Phase.NEW for index in everyone if index not in chosen):
            raise Misuse("the first reset must reset all environments; omit reset_mask")
        return chosen
