"""Our dm_env interface beside the installed original."""

from __future__ import annotations

import dm_env
from pluriverse.adapters.dm_env import DmEnvironment
from support.originals import check_table, compare_members

REASONS: dict[str, str] = {}


def test_environment_has_all_that_dm_envs_has() -> None:
    check_table("dm_env", compare_members("Environment.", DmEnvironment, dm_env.Environment, REASONS))
