from __future__ import annotations

import signal

import pytest
from pluriverse_protocol.child_process import child_environment, describe_exit, dying_with_parent


def test_command_is_wrapped_by_setpriv_with_the_signal_of_its_parents_death() -> None:
    assert dying_with_parent(["sleep", "1"], signal.SIGTERM) == ["setpriv", "--pdeathsig", "TERM", "--", "sleep", "1"]


def test_environment_of_a_child_lacks_our_settings_and_the_session_but_for_what_it_is_given() -> None:
    inherited = {"PLURIVERSE_PASSWORD": "secret", "LINES": "24", "HOME": "/home/me"}
    assert child_environment(inherited, {"PLURIVERSE_SOCKET": "here", "HOME": "/home/you"}) == {
        "PLURIVERSE_SOCKET": "here",
        "HOME": "/home/you",
    }
    assert child_environment(inherited, {"LINES": "66"})["LINES"] == "66"


@pytest.mark.parametrize(
    ("returncode", "described"),
    [(0, "exit status 0"), (3, "exit status 3"), (-9, "killed by SIGKILL"), (-40, "killed by signal 40")],
)
def test_end_of_a_child_is_described_in_words(returncode: int, described: str) -> None:
    assert describe_exit(returncode) == described
