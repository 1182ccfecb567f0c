"""Steps of an agent on a real step channel, of an episode that counts them."""

import os
import select
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from pluriverse_protocol import encode
from pluriverse_protocol.events import Event, KeyEvent, PointerEvent
from pluriverse_protocol.kinds import Handle
from pluriverse_protocol.limits import MAX_SNAPSHOT_BYTES
from pluriverse_protocol.messages import (
    AgentRestore,
    AgentSnapshot,
    AgentStep,
    ErrorReply,
    FirstFrame,
    Headers,
    RestoreReply,
    ServerMessage,
    SnapshotReply,
    StepReply,
    Tree,
)
from pluriverse_protocol.step_channel import View
from pluriverse_server.kit import Kept, Outcome, Seen, lockstep
from pluriverse_server.kit.lockstep import Keeping, Lockstep, StepFailed
from pluriverse_server.kit.step_channel import STEP_CHANNEL_VARIABLE, StepChannel
from pluriverse_server.permitted import Permitted
from support.step_channels import StepChannelAgent, StepChannelListener

IN_REAL_TIME = 'the episode is in real time; begin one with v0.env.reset and "clock": "lockstep"'


class Counting:
    """Ends with its tenth frame. Its picture is the number of frames; each earns a point."""

    def __init__(self, episode: int = 1) -> None:
        self.episode = episode
        self.permitted: Permitted | None = None
        self.frames = 0
        self.events: list[Event] = []

    @property
    def over(self) -> bool:
        return self.frames >= 10

    def play(self, events: Sequence[Event], frames: int) -> Outcome:
        self.events += events
        before = self.frames
        self.frames = min(10, before + frames)
        return Outcome(self.frames - before, self.over, False, "enough" if self.over else "")

    def see(self) -> Seen:
        # A view with gaps in it, as those of cropped pictures are.
        pixels = np.full((4, 3, 3), self.frames, np.uint8)[::2]
        return Seen(pixels, f"frame {self.frames}", [self.frames], {"lives": 3})


class Drawing(Counting):
    """Draws a row a frame into one picture, and says which may differ; on a new sheet as it is given one."""

    def __init__(self) -> None:
        super().__init__()
        self.sheet = np.zeros((10, 3, 3), np.uint8)
        self._drawn = 0

    def see(self) -> Seen:
        first, self._drawn = self._drawn, self.frames
        self.sheet[first : self.frames] = 1 + np.arange(first, self.frames)[:, None, None]
        changes = [(first, self.frames - first)] if self.frames > first else []
        return Seen(self.sheet, changes=changes)


class Stage:
    """A program's lockstep, and the daemon that opens step channels to it."""

    def __init__(self, listener: StepChannelListener) -> None:
        self.lockstep = Lockstep()
        self.listener = listener

    def turn(self) -> None:
        """Attend to what has come, as a program does in each of its turns."""
        readable, _, _ = select.select(self.lockstep.waits_on, [], [], 60)
        assert readable
        self.lockstep.attend(readable)

    def step(
        self, agent: StepChannelAgent, n: int, frames: int = 1, episode: int | None = None
    ) -> tuple[StepReply, NDArray[np.uint8]]:
        """The answer to a step that is asked for and played."""
        agent.step(n, frames, episode=episode)
        self.turn()
        return agent.hear_step(n)

    def open_step_channel(self, view: View | None = None) -> StepChannelAgent:
        agent = self.listener.open_step_channel(view=view)
        self.turn()
        return agent

    def begin(self, episode: Counting | None = None) -> StepChannelAgent:
        """The agent of an episode, which has had its first frame."""
        self.lockstep.begin(episode or Counting())
        agent = self.open_step_channel()
        agent.hear_first()
        return agent

    def close(self) -> None:
        for each in self.lockstep.waits_on:
            each.close()


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with StepChannelListener(tmp_path) as listener:
        monkeypatch.setenv(STEP_CHANNEL_VARIABLE, os.fspath(listener.path))
        made = Stage(listener)
        yield made
        made.close()


def test_the_first_frame_comes_unasked_with_a_step_channel_and_with_an_episode(stage: Stage) -> None:
    stage.lockstep.begin(Counting(4))
    agent = stage.open_step_channel()
    first = agent.hear_first()
    assert first.message == FirstFrame((2, 3, 3), "frame 0", [0], {"lives": 3})
    assert first.headers.episode_id == 4
    stage.lockstep.begin(Counting(5))
    assert agent.hear_first().headers.episode_id == 5


def test_agent_that_takes_changes_gets_the_rows_of_the_picture_that_it_has_that_may_differ(stage: Stage) -> None:
    steps = Drawing()
    stage.lockstep.begin(steps)
    for view, rows in ((None, [None, None, None]), (View(changes=True), [(4, 1), (5, 2), None])):
        agent = stage.open_step_channel(view)
        agent.hear_first()
        for n, expected in enumerate(rows, 1):
            if n == 3:
                steps.sheet = steps.sheet.copy()
            reply, pixels = stage.step(agent, n, 2 if n == 2 else 1)
            assert reply.rows == expected
            assert np.array_equal(pixels, steps.sheet)


def test_a_step_is_answered_once_its_frames_are_played(stage: Stage) -> None:
    steps = Counting()
    agent = stage.begin(steps)
    message_id = agent.step(7, 3, [KeyEvent(99, True)], episode=1)
    stage.turn()
    message, headers, pixels, _ = agent.hear()
    assert message == StepReply(7, 3.0, False, False, False, (2, 3, 3), "frame 3", [3], {"lives": 3})
    assert (headers.parent_message_id, headers.episode_id) == (message_id, 1)
    assert (pixels == 3).all()
    assert steps.events == [KeyEvent(99, True)]


def test_the_last_step_says_how_it_ended_and_those_after_it_are_refused(stage: Stage) -> None:
    agent = stage.begin()
    last, pixels = stage.step(agent, 1, 3600)
    assert (last.reward, last.done, last.terminated, last.truncated) == (10.0, True, True, False)
    assert last.info == {"lives": 3, "reason": "enough"}
    assert (pixels == 10).all()
    for episode in (None, 1):
        agent.step(2, episode=episode)
        stage.turn()
        assert agent.hear_error() == "episode 1 is over; a reset begins another"
    stage.lockstep.begin(Counting(2))
    assert agent.hear_first().headers.episode_id == 2
    stage.step(agent, 3, episode=2)


def test_keys_that_the_agent_may_not_press_do_not_reach_the_program(stage: Stage) -> None:
    steps = Counting()
    steps.permitted = Permitted(frozenset((99,)), pointer=False)
    stage.lockstep.begin(steps)
    agent = stage.open_step_channel()
    agent.step(1, 1, [KeyEvent(99, True), KeyEvent(98, True), PointerEvent(1, 2, 1), KeyEvent(98, False)])
    stage.turn()
    agent.hear_first()
    agent.hear_step(1)
    assert steps.events == [KeyEvent(99, True), KeyEvent(98, False)]


def test_two_steps_at_once_are_played_and_answered_one_after_the_other(stage: Stage) -> None:
    agent = stage.begin()
    for n, frames in ((1, 2), (2, 3)):
        agent.protocol.send_text(encode(AgentStep(n, frames), Headers(n, 1.0, 1)).encode())
    agent.flush()
    stage.turn()
    for n, reward, frame in ((1, 2.0, 2), (2, 3.0, 5)):
        answer, pixels = agent.hear_step(n)
        assert (answer.reward, pixels[0, 0, 0]) == (reward, frame)


def test_steps_before_a_reset_and_in_real_time_are_refused(stage: Stage) -> None:
    agent = stage.open_step_channel()
    agent.step(1)
    stage.turn()
    assert agent.hear_error() == IN_REAL_TIME
    stage.lockstep.begin(Counting())
    agent.hear_first()
    stage.lockstep.begin(None)
    agent.step(2, episode=1)
    stage.turn()
    assert agent.hear_error() == IN_REAL_TIME


def test_a_step_of_an_episode_that_a_reset_has_ended_is_not_played_in_the_next(stage: Stage) -> None:
    agent = stage.begin()
    agent.step(1, episode=1)
    steps = Counting(2)
    stage.lockstep.begin(steps)
    stage.turn()
    assert agent.hear_first().headers.episode_id == 2
    assert agent.hear_error() == "episode 1 is over; a reset begins another"
    assert steps.frames == 0


@pytest.mark.parametrize("politely", [True, False])
def test_an_agent_that_leaves_in_the_middle_of_a_step_leaves_room_for_the_next(stage: Stage, politely: bool) -> None:
    agent = stage.begin()
    agent.step(1)
    if politely:
        agent.protocol.send_close(1000)
        agent.flush()
    agent.close()
    while any(isinstance(each, StepChannel) for each in stage.lockstep.waits_on):
        stage.turn()
    stage.lockstep.begin(Counting(2))
    other = stage.open_step_channel()
    assert other.hear_first().headers.episode_id == 2
    stage.step(other, 1)


def test_a_new_step_channel_takes_the_place_of_the_last(stage: Stage) -> None:
    stage.lockstep.begin(Counting())
    first = stage.open_step_channel()
    second = stage.open_step_channel()
    first.hear_first()
    assert first.hear_end() is None
    second.hear_first()


def test_an_agent_that_has_lost_its_seat_is_hung_up_on_and_the_next_one_is_served(stage: Stage) -> None:
    agent = stage.begin()
    stage.listener.take_back()
    stage.turn()
    assert agent.hear_end() is None
    # There may be none.
    stage.listener.take_back()
    stage.turn()
    other = stage.open_step_channel()
    other.hear_first()
    stage.step(other, 1)


def test_a_step_channel_to_an_episode_that_is_over_shows_nothing_until_the_next(stage: Stage) -> None:
    steps = Counting()
    steps.frames = 10
    stage.lockstep.begin(steps)
    agent = stage.open_step_channel()
    stage.lockstep.begin(Counting(2))
    assert agent.hear_first().headers.episode_id == 2


def test_the_step_channel_goes_on_when_the_daemon_hands_over_no_more(stage: Stage) -> None:
    agent = stage.begin()
    assert stage.listener.program is not None
    stage.listener.program.close()
    stage.turn()
    stage.step(agent, 1)


class Returning(Counting):
    """Goes back by itself."""

    def keep(self) -> Kept | None:
        return Kept(self.frames, 100) if self.frames else None

    def go_back(self, kept: Kept) -> None:
        if kept.state == 7:
            raise ValueError("seven is another's")
        self.frames = kept.state


def ask(stage: Stage, agent: StepChannelAgent, message: AgentSnapshot | AgentRestore | Tree) -> ServerMessage:
    agent.send(message, 1)
    stage.turn()
    return agent.hear().message


def kept(stage: Stage, agent: StepChannelAgent, *drop: Handle, name: str | None = None) -> Handle:
    """The handle of a new snapshot."""
    message = ask(stage, agent, AgentSnapshot(drop, name))
    assert isinstance(message, SnapshotReply), message
    assert message.handle is not None
    return message.handle


def after_three_frames(stage: Stage) -> StepChannelAgent:
    """The agent of an episode that can go back, whose first step was taken."""
    agent = stage.begin(Returning())
    stage.step(agent, 1, 3)
    return agent


def test_an_episode_goes_back_to_snapshots_as_often_as_asked_also_from_the_next_one(stage: Stage) -> None:
    agent = after_three_frames(stage)
    handle = kept(stage, agent)
    for frames in (2, 7):
        stage.step(agent, 2, frames)
        if frames == 7:
            stage.lockstep.begin(Returning())
            agent.hear_first()
        agent.send(AgentRestore(handle), 1)
        stage.turn()
        message, headers, pixels, _ = agent.hear()
        assert message == RestoreReply((2, 3, 3), "frame 3", [3], {"lives": 3})
        assert headers.episode_id == 1
        assert (pixels == 3).all()


def test_snapshots_are_dropped_when_asked_and_with_their_step_channel(stage: Stage) -> None:
    agent = after_three_frames(stage)
    first = kept(stage, agent)
    second = kept(stage, agent, first, 77)
    assert ask(stage, agent, AgentRestore(first)) == ErrorReply(f"unknown snapshot {first}")
    assert kept(stage, agent, name="third frame") == "third frame"
    other = stage.open_step_channel()
    other.hear_first()
    assert ask(stage, other, AgentRestore(second)) == ErrorReply(f"unknown snapshot {second}")


def test_snapshot_with_a_name_outlives_its_agent_until_it_is_dropped_or_replaced(stage: Stage) -> None:
    kept(stage, after_three_frames(stage), name="a")
    other = stage.open_step_channel()
    other.hear_first()
    stage.step(other, 1, 2)
    kept(stage, other, name="b")
    for name, frame in (("a", 3), ("b", 5)):
        other.send(AgentRestore(name), 1)
        stage.turn()
        assert (other.hear().pixels == frame).all()
    kept(stage, other, "a", name="b")
    assert ask(stage, other, AgentRestore("a")) == ErrorReply("unknown snapshot 'a'")


def test_an_environment_without_a_tree_says_so_and_goes_on(stage: Stage) -> None:
    agent = stage.begin()
    assert ask(stage, agent, Tree()) == ErrorReply("this environment has no tree in lockstep")
    stage.step(agent, 1)


def test_what_cannot_be_kept_or_gone_back_to_is_said(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = stage.open_step_channel()
    assert ask(stage, agent, AgentSnapshot()) == ErrorReply(IN_REAL_TIME)
    stage.lockstep.begin(Counting())
    agent.hear_first()
    assert ask(stage, agent, AgentSnapshot()) == SnapshotReply(None)
    assert ask(stage, agent, AgentRestore(0)) == ErrorReply("unknown snapshot 0")
    stage.lockstep.begin(Returning())
    agent.hear_first()
    assert ask(stage, agent, AgentSnapshot()) == SnapshotReply(None)
    stage.step(agent, 1, 7)
    handle = kept(stage, agent)
    assert ask(stage, agent, AgentRestore(handle)) == ErrorReply("seven is another's")
    for limit, value in (("MAX_SNAPSHOTS", 1), ("MAX_SNAPSHOT_BYTES", 150)):
        with monkeypatch.context() as patched:
            patched.setattr(lockstep, limit, value)
            refused = ask(stage, agent, AgentSnapshot())
            assert isinstance(refused, ErrorReply)
            assert refused.message.startswith("1 snapshots of 100 bytes are kept, and at most ")
    assert kept(stage, agent) != handle


def test_what_snapshots_take_is_measured_again_before_one_is_refused() -> None:
    keeping, most = Keeping(), MAX_SNAPSHOT_BYTES // 2 + 1
    keeping.keep(Kept("shares", most, measure=lambda: 1))
    handle = keeping.keep(Kept("alone", most))
    with pytest.raises(StepFailed, match=f"2 snapshots of {most + 1} bytes"):
        keeping.keep(Kept("too much", most))
    keeping.drop([handle])
    keeping.keep(Kept("has room", most))
