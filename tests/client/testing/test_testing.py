import subprocess
import sys
from typing import Any

import pytest
from gymnasium.vector import AutoresetMode
from pluriverse import testing

pytestmark = pytest.mark.display


def test_promise_that_was_not_kept_is_raised() -> None:
    testing.require(1, "never said")
    with pytest.raises(testing.NotConforming, match="a promise"):
        testing.require(0, "a promise")


def test_interfaces_are_loaded_when_they_are_asked_for() -> None:
    code = "import pluriverse.testing as t, sys; assert not {'gymnasium', 'dm_env', 'numpy'} & sys.modules.keys()"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    assert testing.check_gymnasium.__module__ == "pluriverse.testing.gymnasium"
    with pytest.raises(AttributeError, match="check_nothing"):
        _ = testing.check_nothing


PONG = "gym-core.PongDeterministic-v3"


@pytest.mark.parametrize(
    ("interface", "options"),
    [
        *[("gymnasium", {"autoreset_mode": mode}) for mode in AutoresetMode],
        ("dm_env", {}),
        ("envpool", {"noop_max": 4}),
        ("alf", {}),
    ],
)
def test_environment_in_lockstep_conforms_to_every_interface(
    interface: str, options: dict[str, Any], address: str
) -> None:
    env_id = "Pong-v5" if interface == "envpool" else PONG
    getattr(testing, f"check_{interface}")(env_id, address, clock="lockstep", **options)
