"""Slots in processes of their own: episodes that count frames, with an agent on each step channel."""

import os
import select
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from pluriverse_protocol.events import Event
from pluriverse_protocol.messages import AgentBegin, FirstFrame
from pluriverse_protocol.reports import Reset, SlotFrames
from pluriverse_server.kit import Outcome, Seen, slots
from pluriverse_server.kit.lockstep import Lockstep
from pluriverse_server.kit.slots import Slots
from pluriverse_server.kit.step_channel import STEP_CHANNEL_VARIABLE
from support.step_channels import StepChannelAgent, StepChannelListener

REQUEST = Reset(5, "some.Game-v0", 1, 60.0, clock="lockstep")
REAL_TIME = Reset(6, "some.Game-v0", 1, 60.0)

# Steps of so many frames go wrong.
FAILS, DIES, HANGS = 100, 200, 300


class Counting:
    """Ends with its tenth frame; each earns as many points as its slot's number. Its observation is its seed."""

    permitted = None

    def __init__(self, slot: int, request: Reset) -> None:
        self.episode = request.episode
        self.request = request
        self.slot = slot
        self.frames = 0

    @property
    def over(self) -> bool:
        return self.frames >= 10

    def play(self, events: Sequence[Event], frames: int) -> Outcome:
        if frames == FAILS:
            raise ValueError("that goes wrong")
        if frames == DIES:
            os.abort()
        while frames == HANGS:
            select.select([], [], [])
        self.frames += frames
        return Outcome(self.slot * frames, self.over)

    def see(self) -> Seen:
        return Seen(np.full((1, 1, 1), self.frames, np.uint8), self.request.env, [self.request.seed])


class Stage:
    """A program's lockstep with slots, and the daemon that opens step channels to it."""

    def __init__(self, listener: StepChannelListener) -> None:
        self.reported: list[SlotFrames] = []
        self.lockstep = Lockstep(Slots(Counting, self.reported.append))
        self.listener = listener
        self.lockstep.asked(REQUEST)

    def turn(self) -> None:
        """Attend to what has come."""
        readable, _, _ = select.select(self.lockstep.waits_on, [], [], 60)
        self.lockstep.attend(readable)

    def open(self, slot: int) -> StepChannelAgent:
        agent = self.listener.open_step_channel(slot)
        self.turn()
        return agent


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    # Two processes: even slots in the one, odd ones in the other.
    def two(_: int) -> set[int]:
        return {0, 1}

    monkeypatch.setattr(os, "sched_getaffinity", two)
    with StepChannelListener(tmp_path) as listener:
        monkeypatch.setenv(STEP_CHANNEL_VARIABLE, os.fspath(listener.path))
        made = Stage(listener)
        yield made
        made.lockstep.asked(REAL_TIME)
        for each in made.lockstep.waits_on:
            each.close()


def begin(agent: StepChannelAgent, seed: int | None = None) -> tuple[int, int]:
    message_id = agent.send(AgentBegin(seed))
    heard = agent.hear_first()
    assert heard.headers.parent_message_id == message_id
    assert heard.headers.episode_id is not None
    assert isinstance(heard.message, FirstFrame)
    assert heard.message.observation is not None
    return heard.headers.episode_id, heard.message.observation[0]


def test_slots_play_episodes_of_their_own_of_seeds_that_follow_from_the_one_that_was_given(stage: Stage) -> None:
    agents = {slot: stage.open(slot) for slot in (1, 2, 3, 4)}
    for slot, agent in agents.items():
        episode, seed = begin(agent, 10 + slot)
        assert seed == 10 + slot
        agent.step(1, slot, episode=episode)
    for slot, agent in agents.items():
        answer, pixels = agent.hear_step(1)
        assert answer.reward == slot * slot
        assert pixels[0, 0, 0] == slot
    first, again = ([begin(agents[1], seed)[1] for seed in (7, None, None)] for _ in range(2))
    assert len(set(first)) == 3
    assert first == again


def test_an_episode_that_is_over_takes_no_steps_and_another_number_comes_next(stage: Stage) -> None:
    agent = stage.open(1)
    agent.step(1, episode=1)
    assert agent.hear_error() == "v0.agent.begin comes before the first step"
    episode, _ = begin(agent)
    agent.step(1, 10, episode=episode)
    assert agent.hear_step(1)[0].done
    agent.step(2, 1, episode=episode)
    assert "is over" in agent.hear_error()
    assert begin(agent)[0] > episode


def test_the_programs_own_episodes_begin_elsewhere(stage: Stage) -> None:
    agent = stage.open(0)
    agent.send(AgentBegin(1))
    stage.turn()
    assert agent.hear_error() == "v0.env.reset begins this environment's episodes"


def test_what_fails_takes_down_its_own_step_channel_alone(stage: Stage, capfd: pytest.CaptureFixture[str]) -> None:
    one, beside = stage.open(1), stage.open(3)
    episode, goes_on = begin(one)[0], begin(beside)[0]
    one.step(1, FAILS, episode=episode)
    one.hear_end()
    beside.step(1, 1, episode=goes_on)
    assert beside.hear_step(1)[0].reward == 3
    assert "that goes wrong" in capfd.readouterr().err
    begin(stage.open(1))


def test_a_process_that_dies_is_replaced_and_others_go_on(stage: Stage) -> None:
    one, other = stage.open(1), stage.open(2)
    episode, goes_on = begin(one)[0], begin(other)[0]
    one.step(1, DIES, episode=episode)
    one.hear_end()
    stage.turn()
    other.step(1, 1, episode=goes_on)
    assert other.hear_step(1)[0].reward == 2
    begin(stage.open(1))


def test_what_hangs_is_killed_with_its_process_and_says_where(
    stage: Stage, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "HUNG_S", 0.5)
    monkeypatch.setattr(slots, "HUNG_FRAME_S", 0)
    one, beside = stage.open(1), stage.open(3)
    begin(beside)
    # What has answered is no longer waited for.
    time.sleep(0.6)
    one.step(1, HANGS, episode=begin(one)[0])
    one.hear_end()
    beside.hear_end()
    assert "in play" in capfd.readouterr().err
    stage.turn()
    begin(stage.open(1))


def test_the_daemon_hears_how_many_frames_were_played(stage: Stage) -> None:
    for slot, frames in ((1, 3), (2, 4)):
        agent = stage.open(slot)
        agent.step(1, frames, episode=begin(agent)[0])
        agent.hear_step(1)
        stage.turn()
    assert stage.reported == [SlotFrames(5, 3), SlotFrames(5, 4)]


def test_step_channels_end_with_the_agents_seat_and_with_lockstep(stage: Stage) -> None:
    agent = stage.open(1)
    begin(agent)
    stage.listener.take_back()
    stage.turn()
    agent.hear_end()
    agent = stage.open(1)
    begin(agent)
    stage.lockstep.asked(REAL_TIME)
    agent.hear_end()
    stage.open(1).hear_end()
    # A step channel plays what the program plays.
    stage.lockstep.asked(Reset(7, "another.Game-v0", 1, 60.0, clock="lockstep"))
    agent = stage.open(1)
    agent.send(AgentBegin(1))
    assert getattr(agent.hear_first().message, "text", "") == "another.Game-v0"
