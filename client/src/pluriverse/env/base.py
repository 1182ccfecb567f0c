"""The interface of environments and of the wrappers around them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any, NoReturn, Self

from pluriverse.errors import Misuse
from pluriverse.runtimes import runtime_of

Step = tuple[Any, Any, Any, dict[str, Any]]
"""Observations, rewards, dones and info, as ``Env.step`` returns them."""


@dataclass(frozen=True, slots=True)
class EnvSpec:
    """An environment's id, and its steps per second where they aren't the environment's own. Can be written as JSON."""

    id: str
    fps: float | None = None

    @property
    def runtime(self) -> str:
        """The id of its runtime, such as ``"gym-core"``."""
        return runtime_of(self.id)

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)


class Env(ABC):
    """A vector of ``n`` environments, each with its own episodes.

    Without wrappers an observation is a ``ScreenObservation`` or None, and an action a list of events; wrappers change
    either. ``metadata["video.frames_per_second"]`` is the number of frames per second that the environment draws.
    """

    metadata: dict[str, Any]
    spec: EnvSpec | None
    observation_space: Any
    action_space: Any

    @property
    @abstractmethod
    def n(self) -> int:
        """The number of environments."""

    @abstractmethod
    def configure(self, *args: Any, **options: Any) -> None:
        """Connect to the remotes; once, before the first ``reset``. ``VectorEnv.configure`` has the options."""

    @abstractmethod
    def reset(self) -> Any:
        """Begin a new episode in each environment.

        Returns:
            A list of ``n`` observations; ``[None] * n`` if nothing waits for the first pictures.
        """

    @abstractmethod
    def step(self, action_n: Any) -> Step:
        """Send an action to each environment, and return what has come since the last step.

        Args:
            action_n: ``n`` actions.

        Returns:
            Four values:

            - ``observation_n``: ``n`` observations. After a done it is the next episode's, or None.
            - ``reward_n``: ``n`` floats, the sums of what was earned since the last step.
            - ``done_n``: ``n`` bools. The reward then belongs to the episode that ended.
            - ``info``: ``info["n"]`` is a list of ``n`` dicts, whose keys are in docs/agents.md; those with a done have
              ``terminated`` and ``truncated``.

        Raises:
            ActionError: an action is invalid; nothing was sent to any remote.
            ResetNeeded: ``reset`` was never called.
        """

    @abstractmethod
    def reset_one(self, index: int) -> None:
        """Give up the episode of one environment, and begin its next; what it had earned is dropped."""

    @abstractmethod
    def wait(self, timeout_s: float) -> bool:
        """Wait for something new that ``step`` has not returned yet; return False if nothing came in time."""

    @abstractmethod
    def seed(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        """Seed the next ``reset``; return the seed of each environment."""

    @abstractmethod
    def render(self, mode: str = "human") -> Any:
        """Show the first environment's last picture; with mode ``"rgb_array"`` return the list of all pictures.

        A picture is a uint8 array of shape (height, width, 3), RGB, or None before the first.
        """

    @abstractmethod
    def close(self) -> None:
        """Disconnect, and remove the remotes that were started; may be called repeatedly."""

    @property
    def unwrapped(self) -> Env:
        """The environment inside all wrappers."""
        return self

    def __reduce__(self) -> NoReturn:
        raise Misuse(
            "an environment can't be pickled or copied, as it holds connections; pickle a function that makes it"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Wrapper(Env):
    """Passes all calls on to ``env``; subclasses change some."""

    def __init__(self, env: Env) -> None:
        """Wrap ``env``."""
        self.env: Env = env
        self.metadata: dict[str, Any] = dict(env.metadata)
        self.spec: EnvSpec | None = env.spec
        self.observation_space: Any = env.observation_space
        self.action_space: Any = env.action_space

    @property
    def n(self) -> int:
        return self.env.n

    def configure(self, **options: Any) -> None:
        self.env.configure(**options)

    def reset(self) -> Any:
        return self.env.reset()

    def step(self, action_n: Any) -> Step:
        return self.env.step(action_n)

    def reset_one(self, index: int) -> None:
        self.env.reset_one(index)

    def wait(self, timeout_s: float) -> bool:
        return self.env.wait(timeout_s)

    def seed(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        return self.env.seed(seed)

    def render(self, mode: str = "human") -> Any:
        return self.env.render(mode)

    def close(self) -> None:
        self.env.close()

    @property
    def unwrapped(self) -> Env:
        return self.env.unwrapped

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.env!r})"


class ObservationWrapper(Wrapper):
    """Changes each observation that isn't None."""

    @abstractmethod
    def observation(self, observation: Any) -> Any:
        """Return an observation changed."""

    def reset(self) -> Any:
        return self._all(self.env.reset())

    def step(self, action_n: Any) -> Step:
        observation_n, reward_n, done_n, info = self.env.step(action_n)
        return self._all(observation_n), reward_n, done_n, info

    def _all(self, observation_n: Any) -> list[Any]:
        return [None if observation is None else self.observation(observation) for observation in observation_n]
