"""Agents in Python: a function of what is seen, a class of such, or a Gymnasium policy."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
from pluriverse.adapters.pictures import PictureOptions, Pictures, Pixels
from pluriverse.errors import ConfigurationError, PluriverseError

from pluriverse_eval.play import Play

from .agent import Agent, AgentFailed, Decide, Hold, Seen, loop


def python_agent(where: str, attribute: str) -> Agent:
    name = f"{where}:{attribute}"
    try:
        found: Any = _module(where)
        for part in attribute.split("."):
            found = getattr(found, part)
        if isinstance(found, type):
            found = cast("Callable[[], Any]", found)()
    except Exception as error:
        raise ConfigurationError(f"--agent {name}: {type(error).__name__}: {error}") from error
    if hasattr(found, "predict"):
        return PolicyAgent(found)
    if not callable(found):
        raise ConfigurationError(f"--agent {name} is neither a function of the observation nor a policy with predict")
    return CallableAgent(found)


class CallableAgent:
    """A function of ``Seen``; see ``loop`` for what it may return."""

    def __init__(self, decide: Decide) -> None:
        self._decide = decide

    def play(self, play: Play) -> None:
        """Play until the episode is over; raise AgentFailed if the function fails."""
        loop(play, self._guarded)

    def close(self) -> None:
        close = getattr(self._decide, "close", None)
        if callable(close):
            close()

    def _guarded(self, seen: Seen) -> Any:
        try:
            return self._decide(seen)
        except PluriverseError:
            raise
        except Exception as error:
            raise AgentFailed(f"{type(error).__name__}: {error}") from error


class PolicyAgent(CallableAgent):
    """A policy of Gymnasium's kind: ``predict(observation)`` returns an action, or it and a state as those of SB3.

    Its attributes describe its training input: ``pictures`` (``PictureOptions``), ``stack`` (how many of the last
    pictures an observation has, on the last axis) and ``frame_skip``. Without them it is the picture, for one frame.
    """

    def __init__(self, policy: Any) -> None:
        super().__init__(self._act)
        self._policy = policy
        self._pictures: PictureOptions = getattr(policy, "pictures", PictureOptions())
        self._frames: int = getattr(policy, "frame_skip", 1)
        self._last: deque[Pixels] = deque(maxlen=getattr(policy, "stack", 1))

    def _act(self, seen: Seen) -> Hold:
        height, width = seen.picture.shape[:2]
        picture = Pictures(self._pictures, (0, 0, width, height)).make(seen.picture)
        if seen.first:
            self._last.extend([np.zeros_like(picture)] * (self._last.maxlen or 1))
        self._last.append(picture)
        action = self._policy.predict(np.concatenate(self._last, axis=-1))
        return Hold(action[0] if isinstance(action, tuple) else action, self._frames)


def _module(where: str) -> Any:
    """Import a file, which may import those beside it, or a module, also of the current folder."""
    path = Path(where).resolve()
    is_file = path.suffix == ".py"
    folder = str(path.parent if is_file else Path.cwd())
    if folder not in sys.path:
        sys.path.append(folder)
    if not is_file:
        return importlib.import_module(where)
    # Under a name that is no other module's; dataclasses look their module up by it.
    spec = importlib.util.spec_from_file_location(f"pluriverse_agent_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{where} isn't a Python file")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
