"""RLlib, as in the examples: two runners with remotes of their own, which it makes in processes of its own."""

import os
import re
import subprocess
import tempfile
from pathlib import Path
from typing import Final

import pytest
from support.remotes import on_machine

ROOT: Final = Path(__file__).parents[2]
PYTHON: Final = ROOT / ".venv/rllib/bin/python"
LEARN_S: Final = 600.0


pytestmark = [
    pytest.mark.rllib,
    pytest.mark.timeout(LEARN_S),
    pytest.mark.skipif(not PYTHON.exists(), reason="RLlib isn't here: tools/setup all"),
]


def learn(script: str, *arguments: str) -> list[float]:
    """Run an example, and return the mean return of each iteration."""
    # The paths of Ray's sockets have to be short, and it leaves files in both places.
    with tempfile.TemporaryDirectory(prefix="pv-") as folder:
        trained = subprocess.run(
            [PYTHON, ROOT / "examples" / script, *arguments],
            env={**os.environ, "HOME": folder, "RAY_TMPDIR": folder},
            capture_output=True,
            text=True,
            timeout=LEARN_S,
        )
    assert trained.returncode == 0, trained.stderr
    returns = re.findall(r"^iteration \d: .*mean return ([\d.]+)$", trained.stdout, re.MULTILINE)
    assert len(returns) == 3, trained.stdout
    return [float(found) for found in returns]


def test_two_runners_of_rllib_train_ppo_on_a_remote_each() -> None:
    with on_machine() as first, on_machine() as second:
        returns = learn("rllib.py", first.address, second.address)
    # A pole that nobody balances falls within some ten steps.
    assert min(returns) > 5


def test_two_runners_of_rllib_train_ppo_on_remotes_that_ray_places() -> None:
    returns = learn("ray_fleet.py", "ray:2?how=local")
    assert min(returns) > 5
