import dataclasses
import math
from pathlib import Path
from typing import Any

import pytest
from pluriverse_server.settings import Settings, SettingsError

RUNTIME = Path("toy")


def test_defaults_are_the_ports_that_agents_know_on_this_machine_alone() -> None:
    settings = Settings(RUNTIME)
    assert (settings.host, settings.vnc_port, settings.rewarder_port) == ("127.0.0.1", 5900, 15900)
    assert settings.vnc_password


def test_password_does_not_show_where_settings_are_printed() -> None:
    assert "secret12" not in repr(Settings(RUNTIME, password="secret12"))


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"vnc_port": 0}, "the VNC port is 0, expected 1 to 65535"),
        ({"vnc_port": 65536}, "the VNC port is 65536"),
        ({"rewarder_port": -1}, "the rewarder port is -1"),
        ({"vnc_port": 7, "rewarder_port": 7}, "both 7, expected two"),
        ({"password": ""}, "at least one character"),
        ({"password": "a:b"}, "without a colon"),
        ({"password": "p\u00e4ss"}, "printable ASCII"),
        ({"password": "a\nb"}, "printable ASCII"),
        ({"password": "a\x00b"}, "printable ASCII"),
        ({"drain_s": -1.0}, "the drain time limit is -1.0 s"),
        ({"password": None}, "missing password and tokens"),
        ({"drain_s": math.inf}, "the drain time limit is inf s"),
    ],
)
def test_what_cannot_be_is_refused_with_what_was_expected(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint):
        dataclasses.replace(Settings(RUNTIME), **changes)
