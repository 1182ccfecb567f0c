from collections.abc import Generator
from typing import Any

import pytest
from pluriverse.adapters.backend import Phase
from pluriverse.adapters.core import Core
from pluriverse.env.connections import Clock
from pluriverse.errors import ActionError, ConfigurationError, Misuse, RemoteFailed
from pluriverse.vnc import VncOptions
from support.remotes import daemon_at

pytestmark = pytest.mark.display

PONG = "gym-core.PongDeterministic-v3"


@pytest.fixture
def pong(address: str) -> Generator[Core]:
    with Core(PONG, address) as core:
        core.reset(0)
        assert core.receive(1) == [0]
        yield core


def test_an_option_that_there_is_none_of_is_told(address: str) -> None:
    with pytest.raises(ConfigurationError, match="'difficulty' is 9, expected one of 0, 1"):
        Core("gym-core.Breakout-v3", address, env_options={"difficulty": 9})


def test_wrong_use_says_the_rule_and_sends_nothing(pong: Core) -> None:
    with pytest.raises(Misuse, match="1 answers requested, but only 0"):
        pong.receive(1)
    with pytest.raises(ActionError, match="0 to 5"):
        pong.send({0: 6})
    assert pong.phase(0) is Phase.READY
    pong.send({0: 1})
    with pytest.raises(Misuse, match="answer"):
        pong.send({0: 1})
    with pytest.raises(Misuse, match="expected 0 to 0"):
        pong.send({1: 1})
    assert pong.receive(1) == [0]


def test_receive_that_nothing_comes_of_says_so(pong: Core) -> None:
    remote = daemon_at(pong.env.addresses[0])
    remote.suspend()
    pong.reset(0)
    with pytest.raises(RemoteFailed, match="nothing came of environments 0"):
        pong.receive(1, timeout_s=0)
    remote.resume()
    pong.receive(1)


@pytest.mark.parametrize("clock", ["realtime", "lockstep"])
def test_who_resets_a_remote_that_another_agent_has_taken_is_told_at_once(address: str, clock: Clock) -> None:
    with Core(PONG, address, clock=clock) as core:
        core.reset(0)
        core.receive(1)
        with Core(PONG, address, clock=clock, take_over=True):
            for _ in range(2):
                core.reset(0)
                # Two minutes, if it waited for its place.
                with pytest.raises(RemoteFailed, match=r"remote 0: .* another agent plays it"):
                    core.receive(1, timeout_s=30)
        core.reset(0)
        assert core.receive(1) == [0]


def test_environment_that_waits_for_its_agent_is_refused_in_real_time(address: str) -> None:
    with pytest.raises(ConfigurationError, match="waits for the agent; make it with clock='lockstep'"):
        Core("gym-core.PongDeterministicSync-v3", address)


@pytest.mark.parametrize("options", [{"vision": False}, {"vnc": VncOptions(grey=True)}, {"vnc": VncOptions(scale=2)}])
def test_screen_that_is_not_as_it_is_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="unchanged screen"):
        Core(PONG, "local:1", **options)
