"""One script, with EnvPool and with ours: only its import differs."""

from __future__ import annotations

from typing import Any, cast

import pytest

pytestmark = pytest.mark.display

SCRIPT = '''
import envpool
import numpy as np


def kinds(value):
    """Types, dtypes and shapes, all the way down."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {name: kinds(each) for name, each in value.items()}
    if isinstance(value, tuple):
        return [kinds(each) for each in value]
    return type(value).__name__, str(value.dtype), value.shape


def synchronous(env_type):
    env = envpool.make("Pong-v5", env_type=env_type, num_envs=2, seed=7, max_episode_steps=3)
    calls = [env.reset(), *(env.step(np.array([1, 2])) for _ in range(5)), env.step(np.array([2]), np.array([1]))]
    told["spaces"] = env.spec.observation_space, env.spec.action_space, len(env), env.is_async
    env.close()
    return calls


def row(state):
    _, rewards, terminated, truncated, info = state
    return [info["elapsed_step"].tolist(), rewards.tolist(), terminated.tolist(), truncated.tolist()]


def asynchronous():
    """What each environment is told, in its own order."""
    env = envpool.make_gym("Pong-v5", num_envs=3, batch_size=2, num_threads=1, max_episode_steps=3, stack_num=2)
    seen = {index: [] for index in range(3)}
    env.async_reset()
    while min(map(len, seen.values())) < 6:
        observations, rewards, terminated, truncated, info = env.recv()
        assert observations.shape == (2, 2, 84, 84)
        for position, index in enumerate(info["env_id"].tolist()):
            done = bool(terminated[position]), bool(truncated[position])
            seen[index].append((int(info["elapsed_step"][position]), float(rewards[position]), *done))
        actions = {"action": np.array([1, 3], np.int32), "env_id": info["env_id"]}
        env.send(actions)
    env.close()
    return {index: rows[:6] for index, rows in seen.items()}


def first_step():
    """Without a reset before it."""
    env = envpool.make_gymnasium("Pong-v5", gray_scale=False, img_height=50, img_width=60, frame_skip=2)
    state = env.step(np.array([3]))
    env.close()
    return kinds(state[0]), row(state)


told = {}
calls = synchronous("gym")
told["gym kinds"] = [kinds(call) for call in calls]
told["gym table"] = [calls[0][1]["elapsed_step"].tolist(), *map(row, calls[1:])]
calls = synchronous("dm")
told["dm kinds"] = [kinds(call) for call in calls]
told["dm table"] = [[each.tolist() for each in (call.step_type, call.reward, call.discount)] for call in calls]
told["asynchronous"] = asynchronous()
told["first step"] = first_step()
'''

# A screen doesn't show the emulator's memory. EnvPool has no remotes to tell of.
THEIRS = {"ram"}
OURS = {"pluriverse"}


def run(script: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(script, "agent", "exec"), names)  # noqa: S102 - it is above
    return names["told"]


def without(names: set[str], value: Any) -> Any:
    if isinstance(value, dict):
        parts = cast("dict[str, Any]", value)
        return {name: without(names, each) for name, each in parts.items() if name not in names}
    return [without(names, each) for each in cast("list[Any]", value)] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def theirs() -> dict[str, Any]:
    return run(SCRIPT)


@pytest.fixture(scope="module")
def ours() -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        # Remotes are containers where an engine answers; this is about the processes of this machine.
        patch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
        return run(SCRIPT.replace("import envpool\n", "import pluriverse.adapters.envpool as envpool\n", 1))


@pytest.mark.parametrize("flavour", ["gym", "dm"])
def test_types_shapes_and_keys_are_the_same(theirs: dict[str, Any], ours: dict[str, Any], flavour: str) -> None:
    assert without(OURS, ours[f"{flavour} kinds"]) == without(THEIRS, theirs[f"{flavour} kinds"])


@pytest.mark.parametrize("flavour", ["gym", "dm"])
def test_episodes_begin_and_end_at_the_same_calls(theirs: dict[str, Any], ours: dict[str, Any], flavour: str) -> None:
    assert ours[f"{flavour} table"] == theirs[f"{flavour} table"]


def test_each_environment_is_told_the_same_whoever_comes_first(theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    assert ours["asynchronous"] == theirs["asynchronous"]


def test_first_step_resets_and_ignores_its_action(theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    assert ours["first step"] == theirs["first step"]
    assert ours["first step"][1][0] == [0]


def test_spaces_are_the_same(theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    assert ours["spaces"] == theirs["spaces"]
