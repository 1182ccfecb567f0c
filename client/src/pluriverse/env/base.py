"""What every environment and every wrapper offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any, Self

from pluriverse.remotes.runtimes import runtime_of


@dataclass(frozen=True, slots=True)
class EnvSpec:
    """What an environment is: its id, and steps a second where that isn't the environment's own. Prints as JSON."""

    id: str
    fps: float | None = None

    @property
    def runtime(self) -> str:
        """The runtime that it belongs to."""
        return runtime_of(self.id)

    def as_json(self) -> dict[str, Any]:
        """As plain data."""
        return asdict(self)


class Env(ABC):
    """A vector of ``n`` environments. Actions, observations and infos are what the subclass says."""

    metadata: dict[str, Any]
    spec: EnvSpec | None
    observation_space: Any
    action_space: Any

    @property
    @abstractmethod
    def n(self) -> int:
        """How many environments there are."""

    @abstractmethod
    def configure(self, *args: Any, **options: Any) -> None:
        """Connect; once, before the first ``reset``. The options are those of the environment within."""

    @abstractmethod
    def reset(self) -> Any:
        """Begin new episodes everywhere."""

    @abstractmethod
    def step(self, action_n: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """Act, and see: observations, rewards, dones, and infos under ``"n"``."""

    @abstractmethod
    def truncate(self, index: int) -> None:
        """Give up the episode of one index, and ask for the next; the others go on. What it had earned is dropped."""

    @abstractmethod
    def wait(self, timeout_s: float) -> bool:
        """Wait until a remote has something that ``step`` has not handed out yet; False if none had in time."""

    @abstractmethod
    def seed(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        """Seed the next ``reset``; returns the seed of each index."""

    @abstractmethod
    def render(self, mode: str = "human") -> Any:
        """Show, or give, what was last seen."""

    @abstractmethod
    def close(self) -> None:
        """Let go of everything; may be called repeatedly."""

    @property
    def unwrapped(self) -> Env:
        """The environment within all wrappers."""
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Wrapper(Env):
    """Passes everything on to ``env``; subclasses change what they want."""

    def __init__(self, env: Env) -> None:
        self.env = env
        self.metadata = dict(env.metadata)
        self.spec = env.spec
        self.observation_space = env.observation_space
        self.action_space = env.action_space

    @property
    def n(self) -> int:
        """How many environments there are."""
        return self.env.n

    def configure(self, **options: Any) -> None:
        """Connect; see what is wrapped."""
        self.env.configure(**options)

    def reset(self) -> Any:
        """Begin new episodes everywhere."""
        return self.env.reset()

    def step(self, action_n: Any) -> tuple[Any, Any, Any, dict[str, Any]]:
        """Act, and see."""
        return self.env.step(action_n)

    def truncate(self, index: int) -> None:
        """Give up the episode of one index."""
        self.env.truncate(index)

    def wait(self, timeout_s: float) -> bool:
        """Wait for news of a remote."""
        return self.env.wait(timeout_s)

    def seed(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        """Seed the next ``reset``."""
        return self.env.seed(seed)

    def render(self, mode: str = "human") -> Any:
        """Show, or give, what was last seen."""
        return self.env.render(mode)

    def close(self) -> None:
        """Let go of everything."""
        self.env.close()

    @property
    def unwrapped(self) -> Env:
        """The environment within all wrappers."""
        return self.env.unwrapped

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.env!r})"
