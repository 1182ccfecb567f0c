"""Going back in lockstep, over real remotes: by what they keep, and by playing again."""

import random
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from pluriverse.adapters import lockstep
from pluriverse.adapters.backend import Phase
from pluriverse.adapters.core import Core
from pluriverse.adapters.snapshots import fingerprint
from pluriverse.errors import ConfigurationError, Misuse, ResetNeeded
from pluriverse.rewarder.result import Result
from support.remotes import daemon_at, on_machine

pytestmark = [pytest.mark.slow, pytest.mark.display]

PONG = "gym-core.PongDeterministic-v3"
STICKY = "gym-core.MontezumaRevenge-v0"
POLE = "gym-core.CartPole-v0"
LANDER = "gym-core.LunarLander-v3"
MAZE = "gym-core.MiniGrid-DoorKey-5x5-v0"

RIGHT = 0xFF53

Seen = tuple[bytes, float, Any, bool, int]


def begin(core: Core, index: int = 0, seed: int | None = 3) -> Result:
    core.reset(index, seed)
    assert core.receive(1) == [index]
    return core.result(index)


def played(core: Core, actions: Sequence[Any], index: int = 0) -> list[Seen]:
    """All that an agent sees of some steps, or of those until the episode's end."""
    seen: list[Seen] = []
    for action in actions:
        core.send({index: action})
        assert core.receive(1) == [index]
        seen.append(seen_of(core, index))
        if core.phase(index) is Phase.ENDED:
            break
    return seen


def seen_of(core: Core, index: int = 0) -> Seen:
    result = core.result(index)
    assert not result.lost, result.error
    said = [result.text, result.observation, result.lives]
    return fingerprint(result.picture), result.reward, said, result.terminated, result.elapsed


def went_back(core: Core, snapshot: Any) -> Result:
    core.restore(0, snapshot)
    assert core.receive(1) == [0]
    return core.result(0)


@pytest.mark.parametrize(
    ("env_id", "native"),
    [(PONG, True), (STICKY, True), (POLE, True), (MAZE, True), (LANDER, False)],
)
def test_same_actions_after_going_back_give_the_same(env_id: str, native: bool) -> None:
    chance = random.Random(env_id)
    with Core(env_id, "local:1", frame_skip=2, clock="lockstep") as core:
        n = core.actions.n
        for k, m in ((0, 5), (3, 9)):
            begin(core)
            played(core, [chance.randrange(n) for _ in range(k)])
            actions = [chance.randrange(n) for _ in range(m)]
            moment = core.snapshot(0)
            # Before the first frame it isn't known which action would be repeated.
            assert moment.native is (native and (k > 0 or env_id != STICKY))
            then = seen_of(core)
            first = played(core, actions)
            # From elsewhere, and a second time.
            for _ in range(2):
                back = went_back(core, moment)
                assert (fingerprint(back.picture), back.elapsed, back.reward) == (then[0], then[4], 0.0)
                assert played(core, actions) == first
        assert len({seen[0] for seen in first}) > 1


@pytest.mark.timeout(240)
@pytest.mark.parametrize("env_id", ["doom.DefendTheCenter-v0", "internet.2048-v0"])
def test_whatever_keeps_no_snapshots_comes_there_by_playing_again(env_id: str) -> None:
    chance = random.Random(env_id)
    runtime = env_id.partition(".")[0]
    # One of our own: the sockets of browsers allow no long paths, as those of a test's remotes are.
    with on_machine(runtime=runtime) as remote, Core(env_id, remote.address, frame_skip=4, clock="lockstep") as core:
        begin(core)
        played(core, [chance.randrange(core.actions.n) for _ in range(5)])
        moment, then = core.snapshot(0), seen_of(core)
        actions = [chance.randrange(core.actions.n) for _ in range(5)]
        first = played(core, actions)
        back = went_back(core, moment)
        assert (fingerprint(back.picture), back.elapsed, moment.native) == (then[0], then[4], False)
        assert played(core, actions) == first
        assert len({seen[0] for seen in first}) > 1


@pytest.fixture(scope="module")
def pong() -> Generator[Core]:
    with Core(PONG, "local:2", clock="lockstep") as core:
        yield core


def test_key_that_was_held_then_is_held_again_and_a_limit_of_steps_counts_from_then() -> None:
    options: dict[str, Any] = {"clock": "lockstep", "actions": "keys", "max_episode_steps": 12}
    with Core("gym-core.BreakoutDeterministic-v3", "local:1", **options) as core:
        none, right = [0] * len(core.actions.keys), [0] * len(core.actions.keys)
        right[core.actions.keys.index(RIGHT)] = 1
        begin(core)
        played(core, [right, right])
        moment = core.snapshot(0)
        first = played(core, [right] * 20)
        assert (len(first), core.result(0).truncated) == (10, True)
        went_back(core, moment)
        assert played(core, [right] * 20) == first
        # An agent that let the key go meanwhile holds it again.
        went_back(core, moment)
        played(core, [none] * 3)
        went_back(core, moment)
        assert played(core, [right] * 20) == first


def test_an_episode_that_is_over_goes_back_and_the_end_comes_again() -> None:
    with Core(POLE, "local:1", clock="lockstep") as core:
        begin(core, seed=None)
        played(core, [0] * 3)
        moment = core.snapshot(0)
        first = played(core, [0] * 100)
        assert core.result(0).terminated
        for _ in range(2):
            assert went_back(core, moment).elapsed == 3
            assert played(core, [0] * 100) == first
        begin(core)
        assert went_back(core, moment).elapsed == 3


def test_a_remote_that_is_lost_is_replaced_and_plays_until_the_snapshot_again(pong: Core) -> None:
    begin(pong, seed=None)
    played(pong, [2] * 10)
    moment = pong.snapshot(0)
    first = played(pong, [3] * 10)
    daemon_at(pong.env.addresses[0]).kill()
    while not played_or_lost(pong):
        pass
    went_back(pong, moment)
    assert played(pong, [3] * 10) == first
    assert not moment.native


def played_or_lost(core: Core) -> bool:
    core.send({0: 1})
    core.receive(1)
    return core.result(0).lost


def test_wrong_use_says_the_rule(pong: Core) -> None:
    begin(pong)
    moment = pong.snapshot(0)
    pong.send({0: 1})
    with pytest.raises(Misuse, match="has not answered"):
        pong.snapshot(0)
    with pytest.raises(Misuse, match="has yet to answer"):
        pong.restore(0, moment)
    pong.receive(1)
    with pytest.raises(ConfigurationError, match=r"the snapshot is of .*Pong.* frame_skip=2, and this is"):
        pong.restore(0, replace(moment, frame_skip=2))


def test_a_program_that_comes_to_something_else_is_said(pong: Core) -> None:
    begin(pong)
    played(pong, [2] * 5)
    moment = replace(pong.snapshot(0), trail=None, kept=None)
    result = went_back(pong, moment)
    assert (result.lost, result.truncated) == (True, True)
    assert "after 5 steps its picture differs" in (result.error or "")
    with pytest.raises(ResetNeeded):
        pong.snapshot(0)
    begin(pong)


def test_an_episode_that_is_too_long_goes_back_only_to_what_its_remote_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lockstep, "MAX_TRAIL_STEPS", 5)
    with Core(LANDER, "local:1", max_episode_steps=20, clock="lockstep") as core:
        begin(core)
        played(core, [0] * 5)
        moment = core.snapshot(0)
        first = played(core, [2] * 10)
        assert len(first) == 10
        with pytest.raises(Misuse, match=r"is longer than .* and can't be replayed"):
            core.snapshot(0)
        went_back(core, moment)
        assert played(core, [2] * 10) == first
    with Core(POLE, "local:1", clock="lockstep") as core:
        begin(core)
        played(core, [0, 1] * 4)
        moment = core.snapshot(0)
        first = played(core, [1, 0])
        went_back(core, moment)
        assert played(core, [1, 0]) == first
        daemon_at(core.env.addresses[0]).kill()
        while not played_or_lost(core):
            pass
        assert "can't be replayed" in (went_back(core, moment).error or "")
