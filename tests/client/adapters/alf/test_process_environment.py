"""One environment in a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
from pluriverse.adapters.alf import process_environment, tensors
from pluriverse.adapters.alf.process_environment import ProcessEnvironment, WorkerFailed
from pluriverse.adapters.alf.random_alf_environment import RandomAlfEnvironment
from pluriverse.adapters.alf.tensor_specs import BoundedTensorSpec, TensorSpec
from pluriverse.errors import Closed, ConfigurationError, Misuse
from support.alf_envs import DIE, RAISE, Blank, Counting, Unmakeable
from support.waiting import eventually

pytestmark = pytest.mark.usefixtures("no_process_is_left")


@pytest.fixture(autouse=True)
def library() -> str:
    """Processes give arrays, whatever becomes of those: once is enough."""
    return "numpy"


def started(*arguments: Any, **options: Any) -> ProcessEnvironment:
    env = ProcessEnvironment(partial(Counting, *arguments, **options), env_id=5, seed=77)
    env.start()
    return env


def test_environment_lives_in_another_process_with_its_seed() -> None:
    env = started()
    try:
        assert env.observation_spec() == TensorSpec((4,), "int64")
        assert env.action_spec() == BoundedTensorSpec((), "int64", 0, 9)
        assert env.reward_spec() == TensorSpec(())
        assert env.env_info_spec() == {"even": TensorSpec((), "bool")}
        assert env.time_step_spec().prev_action == env.action_spec()
        first = env.reset()
        assert first.is_first()
        assert first.observation.tolist() == [env.pid, 77, 1, 0]
        assert first.env_id == 5
        assert env.step(0).reward == 1
        assert env.render()[0, 0, 0] == 5
    finally:
        env.close()
        env.close()


def test_process_loads_neither_torch_nor_what_plays_remotes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tensors.VARIABLE, "torch")
    env = started()
    try:
        env.reset()
        env.step(0)
        assert [name for name in ("torch", "gymnasium", "cv2", "websockets") if env.call("has_loaded", name)()] == []
    finally:
        env.close()


def test_tensors_of_torch_go_to_the_process_and_come_back() -> None:
    torch = pytest.importorskip("torch")
    spec = TensorSpec((1,))
    tensors_within = partial(RandomAlfEnvironment, spec, spec, episode_end_probability=0, use_tensor_time_step=True)
    env = ProcessEnvironment(tensors_within)
    env.start()
    try:
        env.reset()
        step = env.step(torch.tensor([0.5]))
        assert torch.is_tensor(step.observation)
        assert step.prev_action.tolist() == [0.5]
    finally:
        env.close()
    env = started()
    try:
        env.reset()
        assert env.step(torch.tensor(3)).prev_action == 3
        assert not env.has_loaded("torch")
    finally:
        env.close()


def test_attributes_are_the_environments() -> None:
    env = started()
    try:
        assert (env.task_names, env.metadata, env.get_info()) == (["0"], {}, {})
        assert not hasattr(env, "no_such_thing")
        assert env.reset().is_first()
    finally:
        env.close()


def test_process_computes_with_as_many_threads_as_it_is_told() -> None:
    for threads, variable in ((1, "1"), (3, "3")):
        env = ProcessEnvironment(Counting, torch_num_threads_per_env=threads)
        env.start()
        try:
            assert env.variable("OMP_NUM_THREADS") == variable
        finally:
            env.close()


def test_promises_are_kept_in_any_order() -> None:
    env = started()
    try:
        promises = [env.reset(blocking=False), *(env.step(0, blocking=False) for _ in range(2)), env.call("get_info")]
        assert promises[3]() == {}
        assert [int(promise().step_type) for promise in reversed(promises[:3])] == [1, 1, 0]
        assert promises[0]().is_first()
    finally:
        env.close()


def test_function_of_a_script_reaches_the_process() -> None:
    here = 4

    def of_a_script(env_id: int) -> Counting:
        return Counting(env_id, length=here)

    env = ProcessEnvironment(of_a_script)
    env.start()
    try:
        env.reset()
        assert [bool(env.step(0).is_last()) for _ in range(here)] == [False, False, False, True]
    finally:
        env.close()


def test_error_of_whoever_asks_is_raised_here_and_the_environment_lives_on() -> None:
    env = ProcessEnvironment(Blank)
    env.start()
    try:
        with pytest.raises(Misuse, match="no picture"):
            env.render()
        assert env.reset().is_first()
    finally:
        env.close()


@pytest.mark.parametrize(("action", "message"), [(DIE, "exit code 3"), (RAISE, "ZeroDivisionError: as it was told to")])
def test_environment_that_breaks_says_how(action: int, message: str) -> None:
    env = started(breaks=True)
    try:
        env.reset()
        with pytest.raises(WorkerFailed, match=message):
            env.step(action)
        with pytest.raises(WorkerFailed):
            env.step(0)
    finally:
        env.close()


def test_environment_that_cannot_be_made_says_why() -> None:
    env = ProcessEnvironment(Unmakeable)
    try:
        with pytest.raises(WorkerFailed, match="no such level"):
            env.start()
    finally:
        env.close()


def test_environment_that_answers_nothing_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    env = started(reset_s=60)
    try:
        monkeypatch.setattr(process_environment, "ANSWER_S", 0.05)
        with pytest.raises(WorkerFailed, match=r"nothing came within 0\.05 s"):
            env.reset()
        assert env.pid is not None
        assert not psutil.pid_exists(env.pid)
    finally:
        env.close()


def test_closing_closes_the_environment_and_waits_for_its_process(tmp_path: Path) -> None:
    env = started(closed=tmp_path / "closed")
    env.close()
    assert (tmp_path / "closed").exists()
    assert env.pid is not None
    assert not psutil.pid_exists(env.pid)
    with pytest.raises(WorkerFailed, match="closed"):
        env.reset()


def test_busy_environment_is_ended_by_force() -> None:
    env = started(reset_s=60)
    env.reset(blocking=False)
    env.close(grace_s=0)
    assert env.pid is not None
    assert not psutil.pid_exists(env.pid)


def test_forgotten_environment_ends_with_its_object() -> None:
    env = started()
    pid = env.pid
    assert pid is not None
    del env
    assert not psutil.pid_exists(pid)


@pytest.mark.parametrize("busy", [False, True])
async def test_process_ends_with_a_parent_that_is_killed(busy: bool) -> None:
    pid = _killed_parents_child(busy)
    await eventually(lambda: not _is_running(pid))


def _killed_parents_child(busy: bool) -> int:
    code = f"""
import functools, time
from pluriverse.adapters.alf.process_environment import ProcessEnvironment
from support.alf_envs import Counting
env = ProcessEnvironment(functools.partial(Counting, reset_s={60 if busy else 0}))
env.start()
env.reset(blocking=False)
print(env.pid, flush=True)
time.sleep(60)
"""
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert psutil.pid_exists(pid)
        parent.send_signal(signal.SIGKILL)
    return pid


def _is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_process_is_started_once_and_asked_only_then() -> None:
    env = ProcessEnvironment(Counting)
    with pytest.raises(Closed, match="call start"):
        env.wait_start()
    assert env.pid is None
    env.close()
    env.start()
    with pytest.raises(Closed, match="started before"):
        env.start()
    env.close()


def test_what_cannot_be_sent_is_refused() -> None:
    made = (each for each in [Counting()])

    def of_a_generator(env_id: int) -> Counting:
        return next(made)

    with pytest.raises(ConfigurationError, match="give a function that makes"):
        ProcessEnvironment(of_a_generator).start()
