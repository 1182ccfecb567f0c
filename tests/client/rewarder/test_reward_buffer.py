import math
from dataclasses import dataclass

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule
from pluriverse.rewarder.result import Result
from pluriverse.rewarder.reward_buffer import MAX_EPISODES, MAX_TEXTS, RewardBuffer, RewardsOverflow
from pluriverse_protocol.messages import Describe, Observation, Reward, ServerMessage, Text


def describe(state: str) -> Describe:
    return Describe("toy.First-v0", state, 60.0)  # type: ignore[arg-type]


class Remote:
    """Says things to a buffer in the order that the protocol promises."""

    def __init__(self, buffer: RewardBuffer) -> None:
        self.buffer = buffer
        self.now = 1000.0
        self.episode = 0

    def say(self, message: ServerMessage, episode: int | None = None) -> None:
        self.now += 1.0
        self.buffer.put(message, self.episode if episode is None else episode, self.now - 500.0, self.now)

    def begin(self) -> None:
        self.episode += 1
        self.say(describe("resetting"))

    def run(self) -> None:
        self.say(describe("running"))

    def grant(self) -> None:
        """Grant a reset: another episode begins."""
        self.begin()
        self.buffer.unmask(self.episode)


def running() -> tuple[Remote, RewardBuffer]:
    buffer = RewardBuffer()
    remote = Remote(buffer)
    buffer.mask()
    remote.grant()
    remote.run()
    return remote, buffer


def test_what_is_known_at_the_first_frame_is_popped_with_it() -> None:
    buffer = RewardBuffer()
    remote = Remote(buffer)
    buffer.mask()
    remote.grant()
    remote.say(Describe("toy.First-v0", "running", 60.0, info={"lives": 3, "env_status.x": 1}))
    assert buffer.pop().info == {"lives": 3, "env_status.reset.episode_id": "1"}
    remote.say(Reward(0.0, True, {"lives": 0}))
    remote.begin()
    remote.say(Describe("toy.First-v0", "running", 60.0, info={"lives": 5}))
    assert buffer.pop().info == {"lives": 0}
    assert buffer.pop().info == {"lives": 5}


def test_rewards_that_add_up_to_infinity_are_refused_however_they_are_taken() -> None:
    largest = math.nextafter(math.inf, 0)
    remote, buffer = running()
    remote.say(Reward(-largest, False))
    assert buffer.pop().reward == -largest
    with pytest.raises(RewardsOverflow):
        remote.say(Reward(largest, False))
    assert buffer.pop().reward == 0.0


def test_old_remotes_that_do_not_say_why_end_their_episodes_by_an_outcome() -> None:
    remote, buffer = running()
    remote.say(Reward(0.0, True))
    popped = buffer.pop()
    assert (popped.terminated, popped.truncated) == (True, False)
    assert (popped.episode_id, popped.env_state, popped.masked_action) == (None, None, True)


def test_episode_that_is_followed_without_an_end_is_truncated() -> None:
    remote, buffer = running()
    remote.say(Reward(4.0, False))
    remote.begin()
    popped = buffer.pop()
    assert (popped.reward, popped.done, popped.truncated) == (4.0, True, True)
    assert popped.info["env_status.artificial.done"] is True


def test_last_that_an_episode_told_comes_with_its_end() -> None:
    remote, buffer = running()
    remote.say(Text("the end"))
    remote.say(Observation([1, 2]))
    remote.say(Reward(1.0, True))
    remote.begin()
    remote.run()
    remote.say(Text("the beginning"))
    ended = buffer.pop()
    assert (ended.completed_texts, ended.completed_observation) == (("the end",), [1, 2])
    assert (ended.texts, ended.observation) == (("the beginning",), None)
    following = buffer.pop()
    assert (following.completed_texts, following.completed_observation) == ((), None)


def test_memory_is_bounded_when_nobody_steps() -> None:
    remote, buffer = running()
    for number in range(2 * MAX_TEXTS):
        remote.say(Text(str(number)))
    texts = buffer.pop().texts
    assert len(texts) == MAX_TEXTS
    assert texts[-1] == str(2 * MAX_TEXTS - 1)
    for _ in range(MAX_EPISODES + 10):
        remote.say(Reward(1.0, True))
        remote.begin()
    assert buffer.pop().completed_id == 12


@dataclass
class Ledger:
    """What the agent has been given of an episode, against what the remote sent of it."""

    sent: float = 0.0
    got: float = 0.0
    ended_there: bool = False
    ended_here: bool = False


class Episodes(RuleBasedStateMachine):
    """A remote and an agent in any order: every reward arrives once, in its episode, before its end."""

    def __init__(self) -> None:
        super().__init__()
        self.remote, self.buffer = running()
        self.ledgers = {1: Ledger()}
        self.running = True
        self.dropped_below = 1
        self.last_seen = 0

    @rule(reward=st.integers(-100, 100))
    @precondition(lambda self: self.running)
    def earn(self, reward: int) -> None:
        self.remote.say(Reward(float(reward), False))
        self.ledgers[self.remote.episode].sent += reward

    @rule(reward=st.integers(-100, 100))
    @precondition(lambda self: self.running)
    def end(self, reward: int) -> None:
        self.remote.say(Reward(float(reward), True))
        ledger = self.ledgers[self.remote.episode]
        ledger.sent += reward
        ledger.ended_there = True
        self._begin()

    @rule()
    @precondition(lambda self: not self.running)
    def ready(self) -> None:
        self.remote.run()
        self.running = True

    @rule()
    def say_text(self) -> None:
        self.remote.say(Text(str(self.remote.episode)))

    @rule()
    def late(self) -> None:
        if self.remote.episode > 1:
            self.remote.say(Reward(1e9, False), episode=self.remote.episode - 1)

    @rule(in_between=st.booleans())
    def reset(self, in_between: bool) -> None:
        self.buffer.mask()
        if in_between:
            assert self.buffer.pop() == Result(masked_action=True)
        if self.running:
            self.remote.say(Reward(0.0, True))
        self._begin()
        self.buffer.unmask(self.remote.episode)
        self.dropped_below = self.remote.episode

    @rule()
    def step(self) -> None:
        runs = self.buffer.runs()
        popped = self.buffer.pop()
        assert popped.done == (popped.completed_id is not None)
        episode = popped.completed_id if popped.done else popped.episode_id
        if episode is None:
            assert popped.reward == 0.0
            return
        assert episode >= max(self.dropped_below, self.last_seen)
        self.last_seen = episode
        ledger = self.ledgers[episode]
        assert not ledger.ended_here
        ledger.got += popped.reward
        ledger.ended_here = popped.done
        assert ledger.got == ledger.sent or not (popped.done or ledger.ended_there)
        if popped.done:
            assert ledger.ended_there
        assert all(text == str(popped.episode_id) for text in popped.texts)
        assert runs is not popped.masked_action
        if runs:
            assert popped.episode_id == self.remote.episode
            assert self.running

    def _begin(self) -> None:
        self.running = False
        self.remote.begin()
        self.ledgers[self.remote.episode] = Ledger()


TestEpisodes = Episodes.TestCase
