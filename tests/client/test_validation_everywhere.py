"""Each parameter of each public call, with what it doesn't take: a clear error that names it, and no remote.

Calls and parameters are found by looking, so that a new one is covered by itself, or has to be told of here.
"""

import contextlib
import copy
import inspect
import pickle
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import gymnasium
import numpy as np
import pluriverse
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pluriverse.adapters import alf, dm_env, envpool
from pluriverse.adapters.core import Core
from pluriverse.adapters.envpool.config import Config
from pluriverse.adapters.gymnasium import PluriverseEnv, PluriverseVectorEnv
from pluriverse.adapters.pictures import PictureOptions
from pluriverse.env.vector import VectorEnv
from support.nightly import nightly_but

pytestmark = pytest.mark.display

LAKE: Final = "gym-core.FrozenLake-v1"
CLEAR: Final = (pluriverse.PluriverseError, TypeError, ValueError)


class Started(BaseException):
    """A remote would have been started."""


class NeverStarted:
    """A manager of one remote."""

    n = 1

    def start(self, progress: object) -> Any:
        raise Started

    def replace(self, index: int) -> Any:
        raise Started

    def close(self) -> None:
        """Nothing was started."""


@dataclass(frozen=True)
class Call:
    """A public call, with what else it is called with; ``options``: whose parameters its ``**options`` are."""

    name: str
    function: Callable[..., Any]
    given: Mapping[str, Any] = field(default_factory=dict[str, Any])
    options: tuple[Callable[..., Any], ...] = ()

    def parameters(self) -> Iterator[inspect.Parameter]:
        found: dict[str, inspect.Parameter] = {}
        for function in (self.function, *self.options):
            for parameter in inspect.signature(function).parameters.values():
                if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL) and parameter.name != "self":
                    found.setdefault(parameter.name, parameter)
        yield from found.values()


def fresh_configure(**options: Any) -> None:
    VectorEnv(LAKE).configure(**options)


fresh_configure.__signature__ = inspect.signature(VectorEnv(LAKE).configure)  # pyright: ignore[reportFunctionMemberAccess]

ONE: Final = {"remotes": NeverStarted()}
ID: Final = {"env_id": LAKE}
OF_CORE: Final = (Core, VectorEnv.configure)
OF_ENVPOOL: Final = (Config, Core, VectorEnv.configure)
MAKING: Final = [
    Call("make", pluriverse.make, ID | ONE, (VectorEnv.configure,)),
    Call("VectorEnv", VectorEnv, ID),
    Call("configure", fresh_configure, ONE),
    Call("Core", Core, ID | ONE, (VectorEnv.configure,)),
    Call("PictureOptions", PictureOptions),
    Call("gymnasium.PluriverseEnv", PluriverseEnv, ID | ONE, (PictureOptions, *OF_CORE)),
    Call("gymnasium.PluriverseVectorEnv", PluriverseVectorEnv, ID | ONE, (PictureOptions, *OF_CORE)),
    Call("dm_env.load", dm_env.load, ID | ONE, OF_CORE),
    Call("envpool.make", envpool.make, {"task_id": LAKE, "env_type": "dm"} | ONE, OF_ENVPOOL),
    Call("envpool.make_gymnasium", envpool.make_gymnasium, {"task_id": LAKE} | ONE, OF_ENVPOOL),
    Call("alf.load", alf.load, ID | ONE, OF_CORE),
]

# Values of the types that annotations name.
TYPES: Final[dict[str, st.SearchStrategy[Any]]] = {
    "bool": st.booleans() | st.just(np.True_),
    "int": st.integers(-5, 5) | st.builds(np.int64, st.integers(-5, 5)),
    "float": st.floats() | st.builds(np.float64, st.floats()),
    "str": st.text(),
    "bytes": st.binary(),
    "list": st.lists(st.text(), max_size=3),
    "dict": st.dictionaries(st.text(), st.text(), max_size=2),
    "object": st.builds(object) | st.just(1j) | st.just(len),
}

# What a type takes beside its own values.
ALSO: Final[dict[str, set[str]]] = {
    "float": {"int"},
    "Sequence": {"list"},
    "tuple": {"list"},
    "Mapping": {"dict"},
    "RemoteManager": set(),
    "VncOptions": set(),
    "PictureOptions": set(),
    "AutoresetMode": set(),
    "Clock": {"str"},
    "Literal": {"str"},
    "Kind": {"str"},
    "Measured": {"bool", "str"},
    "Nest": set(),
}

IMPOSSIBLE: Final = [float("nan"), float("inf"), -float("inf")]

# What has the right type, and can't be.
WRONG: Final[dict[str, list[Any]]] = {
    "actions": ["nonsense", ""],
    "autoreset_mode": ["nonsense"],
    "clock": ["nonsense", "", "Lockstep"],
    "batch_size": [-1, 2, 10**30],
    "crop": [84, (84,), (0, 0, 84), (-1, 0, 5, 5), (0, 0, 0, 5), (0.5, 0, 5, 5), "0011"],
    "discount": [0.0, -1.0, 1.5, *IMPOSSIBLE],
    "env_id": ["", "x" * 1000],
    "env_options": [5, "nonsense", [1], {1: 2}, {"mode": object()}, {"mode": float("nan")}, {"": 1}, {"mode": None}],
    "env_type": ["nonsense"],
    "fps": [0, -1, 1e9, 10**400, *IMPOSSIBLE],
    "frame_skip": [0, -1],
    "max_episode_steps": [0, -1],
    "measured": ["nonsense", ""],
    "num_envs": [0, -1, 2],
    "probe_keysym": [0, -1, 2**32],
    "remotes": [0, -1, 10**9, 1.5, "nonsense", "local:0", "docker:many", "vnc://", "", [], ()],
    "render_mode": ["nonsense"],
    "seed": [-1, 2**64, 10**400],
    "size": [84, (84,), (84, 84, 3), (0, 84), (-1, 84), (84.5, 84), "84", (10**9, 1)],
    "start_timeout_s": [0, -1, *IMPOSSIBLE],
    "task_id": ["", "nonsense", "Nonsense-v5"],
}

# What others call a parameter, for which its message has our name.
CALLED: Final = {"task_id": "task_id|env_id|environment|game"}

# Of EnvPool: what can only be its default, whatever equals it; and a seed may be a list.
NOT_TRIED: Final = {
    "connection",
    "seed",
}


def types_of(parameter: inspect.Parameter) -> set[str]:
    """The words of an annotation."""
    words = set(re.findall(r"\w+", str(parameter.annotation)))
    return words | {other for word in words for other in ALSO.get(word, ())}


def wrong_values(parameter: inspect.Parameter) -> st.SearchStrategy[Any]:
    taken = types_of(parameter)
    if taken & {"Any", "_empty"}:
        assert parameter.name in WRONG, f"say in WRONG what {parameter} doesn't take"
        return st.sampled_from(WRONG[parameter.name])
    known = taken & {*TYPES, *ALSO, "None"}
    assert known, f"say in TYPES or ALSO what {parameter} takes"
    others = [values for name, values in TYPES.items() if name not in taken]
    if parameter.default is not None and "None" not in taken:
        others.append(st.none())
    return st.one_of(*others, st.sampled_from(WRONG[parameter.name]) if parameter.name in WRONG else st.nothing())


def fails_clearly(call: Call, name: str, value: Any) -> None:
    with pytest.raises(CLEAR) as caught:
        call.function(**{**call.given, name: value})
    # Of several things the message may name one.
    called = CALLED.get(name, name.removesuffix("_n").removesuffix("s"))
    assert re.search(called, str(caught.value))


def check(call: Call, parameter: inspect.Parameter, examples: int) -> None:
    @settings(max_examples=examples, suppress_health_check=[HealthCheck.too_slow])
    @given(wrong_values(parameter))
    def check_values(value: Any) -> None:
        fails_clearly(call, parameter.name, value)

    check_values()


@pytest.mark.parametrize("call", MAKING, ids=lambda call: call.name)
def test_what_cannot_be_is_told_before_a_remote_starts(call: Call) -> None:
    for parameter in call.parameters():
        if not (call.options == OF_ENVPOOL and parameter.name in NOT_TRIED):
            check(call, parameter, 15)


@pytest.mark.parametrize("call", [call for call in MAKING if "remotes" in call.given], ids=lambda call: call.name)
def test_what_can_be_starts_one(call: Call) -> None:
    with pytest.raises(Started):
        call.function(**call.given)


# ── calls of an environment that plays ───────────────────────────────────────────────────────────────────────────────

PLAYING: Final[dict[str, Callable[[str], Any]]] = {
    "make": lambda address: pluriverse.make(LAKE, address),
    "gymnasium.PluriverseEnv": lambda address: PluriverseEnv(LAKE, remotes=address),
    "gymnasium.PluriverseVectorEnv": lambda address: PluriverseVectorEnv(LAKE, remotes=address),
    "dm_env.load": lambda address: dm_env.load(LAKE, address),
    "alf.load": lambda address: alf.load(LAKE, address),
}

# Of VectorEnv, for wrappers and adapters.
NOT_FOR_AGENTS: Final = {
    "act",
    "poll",
    "changed",
    "release",
    "open_viewer",
    "open_screens",
    "close_screens",
    "open_step_channel",
    "described",
}
# In real time, which these are played in, they refuse whatever they are given.
OF_LOCKSTEP: Final = {"replay", "restore", "fork"}

# What else a call is given.
GIVEN: Final[dict[str, Any]] = {"index": 0, "action_n": [[]], "timeout_s": 0.0}

WRONG.update(
    {
        "action": [object(), "nonsense", 1.5, float("nan"), None, -1, 10**6, [[1]], 10**400],
        "actions": ["nonsense", "", object(), 1.5, [float("nan")], [-1], [10**6], [0, 0], []],
        "action_n": [object(), "nonsense", 1, None, [1], [[1]], [["nonsense"]], [[("KeyEvent", 1.5, True)]], [[], []]],
        "index": [-1, 1, 10**30],
        "indices": [[1], [-1], ["nonsense"], 1.5],
        "mode": ["nonsense", ""],
        "options": [{"nonsense": 1}, 5, "nonsense", [1]],
        "timeout_s": [-1, 1e300, *IMPOSSIBLE],
    }
)


def agents_calls(env: Any) -> Iterator[Call]:
    for name, method in inspect.getmembers(env, inspect.ismethod):
        is_ours = method.__func__.__module__.startswith("pluriverse.")
        if is_ours and not name.startswith("_") and name not in {"configure", "close", *NOT_FOR_AGENTS, *OF_LOCKSTEP}:
            yield Call(method.__qualname__, method, {})


@pytest.mark.parametrize("name", nightly_but(["make", "gymnasium.PluriverseEnv"], PLAYING))
def test_one_that_plays_tells_at_once_what_is_wrong_cannot_be_pickled_and_says_that_it_was_closed(
    name: str, address: str
) -> None:
    env = PLAYING[name](address)
    with contextlib.closing(env):
        env.reset()
        checked = [check_playing(call, each) for call in agents_calls(env) for each in call.parameters()]
        assert checked
        says_what_to_pickle(env)
    action: Any = [[]] if name == "make" else np.zeros(1, np.int64) if "Vector" in name else 0
    with pytest.raises((pluriverse.Closed, gymnasium.error.ClosedEnvironmentError), match="closed"):
        env.step(action)


def check_playing(call: Call, parameter: inspect.Parameter) -> None:
    needed = {each.name: GIVEN[each.name] for each in call.parameters() if each.name in GIVEN}
    check(Call(call.name, call.function, needed), parameter, 10)


def says_what_to_pickle(env: Any) -> None:
    for copied in (pickle.dumps, copy.deepcopy):
        with pytest.raises(pluriverse.Misuse, match="pickle a function that makes it"):
            copied(env)


def test_envpool_that_is_pickled_says_what_to_pickle(address: str) -> None:
    with contextlib.closing(envpool.make_gymnasium(LAKE, remotes=address)) as env:
        says_what_to_pickle(env)
