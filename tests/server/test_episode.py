"""The episode machine against a model that knows nothing of its table, only of what agents are promised."""

import itertools
import math

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from pluriverse_protocol import messages, reports
from pluriverse_server.episode import (
    HEARTBEAT_S,
    Begin,
    Environment,
    EpisodeMachine,
    Finished,
    Output,
    Send,
)

FIRST = Environment("toy.First-v0", fps=50.0)
SECOND = Environment("toy.Second-v0", fps=20.0, time_limit_s=3.0)
SYNC = Environment("toy.Sync-v0", sync=True)
ENVIRONMENTS = [FIRST, SECOND, SYNC]


def make(entropy: int = 1) -> EpisodeMachine:
    return EpisodeMachine(lambda described: described, entropy)


def begun(environment: Environment = FIRST) -> EpisodeMachine:
    """A machine that is resetting to episode 1."""
    machine = make()
    machine.reset(environment, seed=None, fps=None, leaving=0, now=0.0)
    return machine


def running(environment: Environment = FIRST) -> EpisodeMachine:
    """A machine whose episode 1 runs since 0.0 s."""
    machine = begun(environment)
    machine.report(reports.Ready(1), 0.0)
    return machine


# ── the whole of it, at random ──────────────────────────────────────────────────────────────────────────────────────


class Episodes(RuleBasedStateMachine):
    """Random requests, reports, deaths and time; what comes out is held against what agents are promised."""

    def __init__(self) -> None:
        super().__init__()
        self.machine = make()
        self.now = 1000.0
        # The model: where the environment is, what was reported for the running episode, and what was sent of it.
        self.state: str | None = None
        self.episode_id = 0
        self.environment = FIRST
        self.reported = 0
        self.sent = 0
        self.rewards_reported = 0
        self.reward_messages = 0
        self.asked: Begin | None = None
        self.silent_since = 0.0
        self.early: set[type] = set()

    # What the rules check: every output, in the order in which it is carried out.

    def take(self, outputs: list[Output], *, expect: list[str]) -> None:
        assert [type(output).__name__ for output in outputs] == expect
        for output in outputs:
            match output:
                case Send(messages.Describe() as describe, episode_id):
                    self.described(describe, episode_id)
                case Send(messages.Reward() as reward, episode_id):
                    self.rewarded(reward, episode_id)
                case Send(_, episode_id):
                    assert (self.state, episode_id) == ("running", self.episode_id)
                case Begin():
                    assert self.state == "resetting"
                    assert output.episode_id == self.episode_id
                    self.asked = output
                case Finished():
                    assert self.state == "ended"
                    assert output.reward == self.reported
                    assert output.seconds >= 0

    def described(self, describe: messages.Describe, episode_id: int) -> None:
        assert describe.env_id == self.environment.env_id
        assert describe.fps > 0
        if describe.env_state == "resetting":
            assert self.state in (None, "ended", "resetting")
            assert episode_id == self.episode_id + 1
            self.reported = self.sent = 0
            self.early.clear()
        else:
            assert self.state == "resetting"
            assert episode_id == self.episode_id
            self.silent_since = self.now
        self.state, self.episode_id = describe.env_state, episode_id

    def rewarded(self, reward: messages.Reward, episode_id: int) -> None:
        assert (self.state, episode_id) == ("running", self.episode_id)
        self.sent += int(reward.reward)
        self.reward_messages += 1
        self.silent_since = self.now
        assert bool(reward.terminated or reward.truncated) == reward.done
        assert ("reason" in reward.info) == reward.done
        if reward.done:
            assert self.sent == self.reported, "a reward was lost or doubled"
            self.state = "ended"

    def ends(self) -> list[str]:
        """What follows where a running episode ends."""
        return ["Send", "Finished", "Send", "Begin"]

    # ── what can happen ─────────────────────────────────────────────────────────────────────────────────────────────

    @initialize(environment=st.sampled_from(ENVIRONMENTS))
    def first(self, environment: Environment) -> None:
        self.environment = environment
        outputs = self.machine.reset(environment, seed=None, fps=None, leaving=0, now=self.now)
        self.take(outputs, expect=["Send", "Begin"])

    @rule(
        environment=st.sampled_from(ENVIRONMENTS),
        same=st.booleans(),
        seed=st.none() | st.integers(0, 3),
        fps=st.none() | st.sampled_from([1.0, 144.0]),
        leaving=st.integers(-2, 1),
    )
    def reset(self, environment: Environment, *, same: bool, seed: int | None, fps: float | None, leaving: int) -> None:
        wanted = self.environment if same else environment
        left = max(0, self.episode_id + leaving)
        joins = self.state == "resetting" and self.episode_id > left and seed is None and wanted == self.environment
        was_running = self.state == "running"
        if not joins:
            # What is described from here on; the last reward doesn't name its environment.
            self.environment = wanted
        outputs = self.machine.reset(wanted, seed=seed, fps=fps, leaving=left, now=self.now)
        if joins:
            self.take(outputs, expect=[])
            return
        self.take(outputs, expect=self.ends() if was_running else ["Send", "Begin"])
        if was_running:
            last = outputs[0]
            assert isinstance(last, Send)
            assert isinstance(last.message, messages.Reward)
            assert (last.message.terminated, last.message.truncated) == (False, True)
            assert last.message.info["reason"] == "reset"
        assert self.asked is not None
        assert self.asked.environment == wanted
        assert self.asked.fps == (fps or wanted.fps)
        assert seed is None or self.asked.seed == seed

    @rule(age=st.integers(-2, 1), fps=st.none() | st.just(30.0))
    def ready(self, age: int, fps: float | None) -> None:
        starts = age == 0 and self.state == "resetting"
        outputs = self.machine.report(reports.Ready(max(0, self.episode_id + age), fps), self.now)
        self.take(outputs, expect=["Send"] * (1 + len(self.early)) if starts else [])
        if starts and fps:
            described = self.machine.description()
            assert described is not None
            assert described.fps == fps

    @rule(age=st.integers(-2, 1), reward=st.integers(-3, 3))
    def reward(self, age: int, reward: int) -> None:
        counts = age == 0 and self.state == "running"
        if counts:
            self.reported += reward
            self.rewards_reported += 1
        outputs = self.machine.report(reports.Reward(max(0, self.episode_id + age), reward, at=self.now), self.now)
        self.take(outputs, expect=["Send"] if counts and (reward or self.environment.sync) else [])
        if outputs:
            assert isinstance(outputs[0], Send)
            assert isinstance(outputs[0].message, messages.Reward)
            assert outputs[0].message.frame_at == self.now

    @rule(age=st.integers(-2, 1), reward=st.integers(-3, 3), terminated=st.booleans(), truncated=st.booleans())
    def done(self, age: int, reward: int, *, terminated: bool, truncated: bool) -> None:
        counts = age == 0 and self.state == "running"
        if counts:
            self.reported += reward
        report = reports.Done(max(0, self.episode_id + age), reward, terminated, truncated)
        self.take(self.machine.report(report, self.now), expect=self.ends() if counts else [])

    @rule(age=st.integers(-2, 1), report=st.sampled_from([reports.Text, reports.Observation]))
    def text_or_observation(self, age: int, report: type[reports.Text] | type[reports.Observation]) -> None:
        outputs = self.machine.report(report(max(0, self.episode_id + age), "what is seen"), self.now)
        self.take(outputs, expect=["Send"] if age == 0 and self.state == "running" else [])
        if age == 0 and self.state == "resetting":
            self.early.add(report)

    @rule(age=st.integers(-2, 1), frames=st.integers(0, 100))
    def frame(self, age: int, frames: int) -> None:
        self.take(self.machine.report(reports.Frame(max(0, self.episode_id + age), frames), self.now), expect=[])
        if age == 0:
            assert self.machine.episode is not None
            assert self.machine.episode.frames == frames

    @rule()
    def program_dies(self) -> None:
        was_running, before = self.state == "running", self.asked
        outputs = self.machine.program_lost("killed by SIGKILL", self.now)
        self.take(outputs, expect=self.ends() if was_running else ["Begin"])
        if not was_running:
            self.early.clear()
            assert self.asked == before, "the same episode is asked for again"

    @rule(age=st.integers(-2, 1))
    def time_is_up(self, age: int) -> None:
        counts = age == 0 and self.state == "running"
        self.take(self.machine.time_limit(self.episode_id + age, self.now), expect=self.ends() if counts else [])

    @rule(seconds=st.sampled_from([-5.0, 0.0, 0.1, HEARTBEAT_S, 2.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds
        due = not 0 <= self.now - self.silent_since < HEARTBEAT_S
        beats = due and self.state == "running" and not self.environment.sync
        self.take(self.machine.heartbeat(self.now), expect=["Send"] if beats else [])

    # ── what always holds ───────────────────────────────────────────────────────────────────────────────────────────

    @invariant()
    def all_that_was_reported_was_sent(self) -> None:
        assert self.sent == self.reported

    @invariant()
    def machine_and_model_agree(self) -> None:
        assert self.machine.state.value == self.state
        if self.machine.episode is not None:
            assert self.machine.episode.episode_id == self.episode_id

    @precondition(lambda self: self.state is not None)
    @invariant()
    def new_connections_are_told_the_same(self) -> None:
        described = self.machine.description()
        assert described is not None
        assert (described.env_id, described.env_state) == (self.environment.env_id, self.state)


Episodes.TestCase.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
test_agents_are_told_what_they_are_promised = Episodes.TestCase


# ── one by one ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_nothing_is_described_before_the_first_environment() -> None:
    machine = make()
    assert machine.description() is None
    assert machine.heartbeat(10.0) == []
    assert machine.report(reports.Text(0, "early"), 0.0) == []
    assert machine.discarded_reports == 1


def test_last_text_before_ready_follows_the_description_of_its_episode() -> None:
    machine = begun()
    for text in ("loading", "write a letter"):
        assert machine.report(reports.Text(1, text), 0.0) == []
    machine.report(reports.Observation(1, [1]), 0.0)
    _, *early = machine.report(reports.Ready(1), 0.0)
    assert early == [Send(messages.Text("write a letter"), 1), Send(messages.Observation([1]), 1)]
    machine.report(reports.Done(1), 0.0)
    machine.report(reports.Text(2, "of a program that was lost"), 0.0)
    machine.program_lost("killed by SIGKILL", 0.0)
    (described,) = machine.report(reports.Ready(2), 0.0)
    assert isinstance(described, Send)


def seeds(machine: EpisodeMachine, episodes: int) -> list[int]:
    """The seeds of the episode under way and of those that follow by themselves."""
    assert machine.episode is not None
    found = [machine.episode.seed]
    for _ in range(episodes):
        machine.report(reports.Ready(machine.episode.episode_id), 0.0)
        machine.report(reports.Done(machine.episode.episode_id), 0.0)
        found.append(machine.episode.seed)
    return found


def test_same_seed_gives_the_same_sequence_whatever_was_before() -> None:
    one, other = running(), make(entropy=99)
    one.reset(FIRST, seed=7, fps=None, leaving=1, now=0.0)
    other.reset(FIRST, seed=7, fps=None, leaving=0, now=0.0)
    sequence = seeds(one, 5)
    assert sequence == seeds(other, 5)
    assert sequence[0] == 7
    assert len(set(sequence)) == 6
    assert all(0 <= seed < 2**31 for seed in sequence)


def test_without_a_seed_machines_differ() -> None:
    sequences: list[list[int]] = []
    for entropy in (1, 2):
        machine = make(entropy)
        machine.reset(FIRST, seed=None, fps=None, leaving=0, now=0.0)
        sequences.append(seeds(machine, 3))
    assert not set(sequences[0]) & set(sequences[1])


@pytest.mark.parametrize(("terminated", "truncated"), list(itertools.product([False, True], repeat=2)))
def test_done_is_terminated_or_truncated_whatever_the_program_says(*, terminated: bool, truncated: bool) -> None:
    last = running().report(reports.Done(1, 0.0, terminated, truncated), 1.0)[0]
    assert isinstance(last, Send)
    assert isinstance(last.message, messages.Reward)
    assert last.message.terminated is terminated
    assert last.message.truncated is (truncated or not terminated)


def test_reason_of_the_end_is_told() -> None:
    ends = [
        (running().report(reports.Done(1, reason="lost a life"), 1.0), "lost a life"),
        (running().report(reports.Done(1), 1.0), "done"),
        (running().time_limit(1, 1.0), "time limit"),
        (running().program_lost("program killed by SIGKILL", 1.0), "program killed by SIGKILL"),
        (running().reset(FIRST, seed=None, fps=None, leaving=1, now=1.0), "reset"),
    ]
    for outputs, reason in ends:
        assert isinstance(outputs[0], Send)
        assert isinstance(outputs[0].message, messages.Reward)
        assert outputs[0].message.info["reason"] == reason
        assert isinstance(outputs[1], Finished)
        assert outputs[1].reason == reason
        assert outputs[1].seconds == 1.0


def test_next_episode_begins_with_no_frames_no_picture_and_the_same_fps() -> None:
    machine = begun()
    machine.report(reports.Ready(1, 30.0, picture=(0, 0, 160, 210)), 0.0)
    machine.report(reports.Frame(1, 60, 2, at=9.5), 10.0)
    machine.report(reports.Done(1), 10.0)
    episode = machine.episode
    assert episode is not None
    assert (episode.frames, episode.late_frames, episode.frame_at, episode.picture) == (0, 0, None, None)
    assert episode.fps == 30.0


def test_reward_that_would_add_up_to_infinity_is_refused() -> None:
    largest = math.nextafter(math.inf, 0)
    machine = running()
    machine.report(reports.Reward(1, largest), 1.0)
    assert machine.report(reports.Reward(1, largest), 2.0) == []
    assert machine.discarded_reports == 1
    last, finished, *_ = machine.report(reports.Done(1, largest), 3.0)
    assert isinstance(last, Send)
    assert isinstance(last.message, messages.Reward)
    assert isinstance(finished, Finished)
    assert (last.message.reward, finished.reward) == (0.0, largest)
