"""The other name of environments in processes."""

from __future__ import annotations

import pytest
from pluriverse.adapters.alf.fast_parallel_environment import FastParallelEnvironment
from pluriverse.testing.alf import check_environment
from support.alf_envs import Counting

pytestmark = pytest.mark.usefixtures("no_process_is_left")


def test_batch_of_processes_conforms() -> None:
    with FastParallelEnvironment([Counting] * 2, flatten=False, start_method="spawn") as env:
        check_environment(env)
