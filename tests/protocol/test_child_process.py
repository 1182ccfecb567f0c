import pytest
from pluriverse_protocol.child_process import (
    PASSED_ON_VARIABLE,
    child_environment,
    describe_exit,
)
from support import sessions

# What each child has, wherever it was started from.
MADE = {"PATH": "/usr/bin", "HOME": "/home/me", "LANG": "C.UTF-8", "TZ": "UTC"}


def session(**more: str) -> dict[str, str]:
    """The variables of who starts us."""
    ours = {"PLURIVERSE_PASSWORD": "secret", "PATH": "/usr/bin", "HOME": "/home/me"}
    return {**ours, **sessions.VARIABLES, "LD_PRELOAD": "/home/me/some.so", "PYTHONPATH": "/home/me/some", **more}


def test_environment_of_a_child_has_nothing_of_a_session_but_for_what_it_is_given() -> None:
    assert child_environment(session(), {}) == MADE
    assert child_environment(session(), {"LINES": "66", "HOME": "/home/you"}) == {
        **MADE,
        "LINES": "66",
        "HOME": "/home/you",
    }


def test_places_and_processor_of_the_machine_are_a_child_s_too() -> None:
    machine = {"TMPDIR": "/scratch", "OPENBLAS_CORETYPE": "Haswell"}
    assert child_environment(session(**machine), {}) == {**MADE, **machine}


def test_only_a_child_that_has_a_network_is_told_of_proxies_and_certificates() -> None:
    proxies = {name: sessions.VARIABLES[name] for name in ("http_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY")}
    certificates = {"SSL_CERT_FILE": "/etc/ours.pem"}
    assert child_environment(session(**certificates), {}, network=True) == {**MADE, **proxies, **certificates}
    assert child_environment(session(**certificates), {}) == MADE


def test_named_variables_are_passed_on_to_children_and_by_them() -> None:
    passed_on = {PASSED_ON_VARIABLE: "LD_LIBRARY_PATH, NONE", "LD_LIBRARY_PATH": "/opt/lib"}
    child = child_environment(session(**passed_on), {})
    assert child == {**MADE, **passed_on}
    assert child_environment(child, {}) == child


@pytest.mark.parametrize(
    ("returncode", "described"),
    [(0, "exit status 0"), (3, "exit status 3"), (-9, "killed by SIGKILL"), (-40, "killed by signal 40")],
)
def test_end_of_a_child_is_described_in_words(returncode: int, described: str) -> None:
    assert describe_exit(returncode) == described
