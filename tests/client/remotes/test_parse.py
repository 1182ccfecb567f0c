from typing import cast

import pytest
from pluriverse.errors import ConfigurationError
from pluriverse.remotes import Address, Attached, parse
from pluriverse.remotes.local import LocalEngine, LocalRemote
from pluriverse.remotes.manager import no_progress
from pluriverse.remotes.started import StartedRemotes

pytestmark = pytest.mark.display

PONG = "gym-core.PongDeterministic-v3"


@pytest.mark.parametrize("remotes", [0, -1, 1025, "many", "local:0", "podman:2", "", True, 1.5])
def test_what_is_no_number_of_remotes_is_refused(remotes: int | str) -> None:
    with pytest.raises(ConfigurationError, match="expected a number"):
        parse(remotes, PONG)


def test_addresses_are_attached_to_with_the_password_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLURIVERSE_PASSWORD", "secret")
    manager = parse("vnc://a:1+2,b:3+4", None)
    assert isinstance(manager, Attached)
    assert list(manager.start(no_progress)) == [Address("a", 1, 2, "secret"), Address("b", 3, 4, "secret")]
    assert manager.replace(1) == Address("b", 3, 4, "secret")
    manager.close()


def test_local_remotes_are_insisted_on() -> None:
    manager = parse("local:3", PONG)
    assert isinstance(manager, StartedRemotes)
    assert isinstance(cast("StartedRemotes[LocalRemote]", manager).engine, LocalEngine)
    assert manager.n == 3
    manager.close()


def test_remotes_are_started_for_an_environment_only() -> None:
    with pytest.raises(ConfigurationError, match="name one, or attach"):
        parse(2, None)


def test_runtime_that_is_nowhere_is_told_with_all_that_was_tried() -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse(1, "nonsense.Game-v0")
    assert "Docker: " in str(caught.value)
    assert "there is no runtime 'nonsense'" in str(caught.value)
    for remotes in ("docker:1", "local:1"):
        with pytest.raises(ConfigurationError, match="can't be started"):
            parse(remotes, "nonsense.Game-v0")
