import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import gymnasium
import pytest
from gymnasium.envs.registration import EnvSpec, registry
from pluriverse.adapters.gymnasium import PluriverseEnv, PluriverseVectorEnv, register_environments
from pluriverse.adapters.registration import gymnasium_spec
from pluriverse.errors import ConfigurationError
from pluriverse.runtimes import VARIABLE, listed

pytestmark = pytest.mark.display

LAKE = "pluriverse/gym-core.FrozenLake-v1"

RUNTIME = """
[runtime]
id = "mine"
version = "0.1.0"
title = "My own"
default_env = "mine.First-v0"

[program]
command = ["python", "game.py"]
ready = { report = "ready" }

[reset]
by = "report"

[[rewards]]
source = "reports"

[[envs]]
id = "mine.First-v0"
"""


def test_every_environment_that_comes_with_us_is_registered_by_plain_data() -> None:
    assert {f"pluriverse/{env_id}" for env_id in listed()} <= registry.keys()
    printed = gymnasium.pprint_registry(disable_print=True)
    assert printed is not None
    assert "===== pluriverse =====" in printed
    spec = gymnasium.spec(LAKE)
    assert pickle.loads(pickle.dumps(spec)) == spec  # noqa: S301 - our own
    assert EnvSpec.from_json(spec.to_json()) == spec
    assert json.loads(spec.to_json())["kwargs"] == {"env_id": "gym-core.FrozenLake-v1"}


def test_id_without_the_prefix_and_misspelt_options_are_told_the_right_ones() -> None:
    for make in (gymnasium.make, gymnasium.make_vec):
        with pytest.raises(ConfigurationError, match=r"did you mean pluriverse/gym-core\.FrozenLake-v1\?"):
            make("gym-core.FrozenLake-v1")
    with pytest.raises(ConfigurationError, match=r"unexpected keyword argument 'gray' \(did you mean grey\?\)"):
        gymnasium.make(LAKE, remotes="local:1", gray=True)


def test_spec_makes_the_same_environment_again(address: str) -> None:
    env = gymnasium.make(LAKE, remotes=address, clock="lockstep", size=(32, 32), grey=True)
    assert isinstance(env, PluriverseEnv)
    assert env.spec is not None
    env.close()
    again = EnvSpec.from_json(pickle.loads(pickle.dumps(env.spec)).to_json()).make()  # noqa: S301 - our own
    assert again.observation_space == env.observation_space
    assert again.reset()[0].shape == (32, 32, 1)
    again.close()


def test_vector_is_ours_unless_one_asks_for_gymnasiums(address: str) -> None:
    ours = gymnasium.make_vec(LAKE, num_envs=1, remotes=address, autoreset_mode="SameStep")
    assert isinstance(ours, PluriverseVectorEnv)
    assert ours.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.SAME_STEP
    ours.close()
    theirs = gymnasium.make_vec(LAKE, num_envs=1, vectorization_mode="sync", remotes=address)
    assert isinstance(theirs, gymnasium.vector.SyncVectorEnv)
    assert theirs.reset()[0].shape == (1, 256, 256, 3)
    theirs.close()


def test_runtime_of_ones_own_is_registered_when_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "runtime.toml").write_text(RUNTIME)
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    try:
        assert register_environments("mine") == ["pluriverse/mine.First-v0"]
        assert gymnasium.spec("pluriverse/mine.First-v0") == gymnasium_spec("mine.First-v0")
    finally:
        for env_id in ("pluriverse/mine.First-v0", "mine.First-v0"):
            registry.pop(env_id, None)


def test_environments_that_the_files_of_a_runtime_on_the_path_name_are_found_without_asking_for_them(
    tmp_path: Path,
) -> None:
    (tmp_path / "runtime.toml").write_text(RUNTIME)
    script = "import gymnasium, pluriverse; print(gymnasium.spec('pluriverse/mine.First-v0').id)"
    environment = {**os.environ, VARIABLE: str(tmp_path)}
    said = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["pluriverse/mine.First-v0"]
