import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pluriverse.adapters.pictures import PictureOptions
from pluriverse.errors import ConfigurationError
from pluriverse_eval.agents import AgentFailed, Seen, open_agent
from pluriverse_eval.agents.python import CallableAgent, PolicyAgent
from pluriverse_eval.modes import parse_modes
from pluriverse_eval.play import Play

pytestmark = pytest.mark.display

(PAUSED,) = parse_modes("paused")

AGENTS = """
from pluriverse_eval.agents import hold

def still(seen):
    return None

class Walker:
    made = 0
    def __init__(self):
        Walker.made += 1
    def __call__(self, seen):
        return hold(2, 30)

number = 3
broken = lambda seen: seen.nothing
"""

DATACLASS = """
from __future__ import annotations
from dataclasses import dataclass
from beside_the_agent import up

@dataclass
class Climber:
    action: int = up
    def __call__(self, seen):
        return self.action
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(AGENTS)
    return path


@pytest.mark.parametrize(("name", "acts"), [("still", 0), ("Walker", 2)])
def test_function_or_class_of_a_file_plays(play: Play, file: Path, name: str, acts: int) -> None:
    play.start(0, PAUSED)
    open_agent(f"{file}:{name}").play(play)
    assert play.over
    # Up is pressed once and stays down.
    assert len(play.reactions_ms) == min(acts, 1)


def test_file_may_have_dataclasses_and_import_what_is_beside_it(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    (file.parent / "beside_the_agent.py").write_text("up = 2")
    file.write_text(DATACLASS)
    agent = open_agent(f"{file}:Climber")
    assert isinstance(agent, CallableAgent)


def test_function_that_fails_fails_its_episode_with_the_reason(play: Play, file: Path) -> None:
    play.start(0, PAUSED)
    with pytest.raises(AgentFailed, match=r"AttributeError: .*nothing"):
        open_agent(f"{file}:broken").play(play)


@pytest.mark.parametrize(("name", "said"), [("number", "neither a function"), ("nobody", "nobody")])
def test_what_is_no_agent_is_refused(file: Path, name: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        open_agent(f"{file}:{name}")


class Policy:
    pictures = PictureOptions(crop=(0, 34, 160, 160), size=(42, 42), grey=True)
    stack = 4
    frame_skip = 4

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def predict(self, observation: Any) -> tuple[int, None]:
        self.seen.append(observation)
        return 2, None


def test_policy_sees_pictures_as_it_was_trained_on_and_acts_for_its_frames(play: Play) -> None:
    play.start(0, PAUSED)
    policy = Policy()
    PolicyAgent(policy).play(play)
    assert len(policy.seen) == 15
    assert {(each.shape, each.dtype) for each in policy.seen} == {((42, 42, 4), np.dtype(np.uint8))}
    first, second = policy.seen[:2]
    assert not first[..., :3].any()
    assert (second[..., 2] == first[..., 3]).all()
    play.start(1, PAUSED)
    PolicyAgent(policy).play(play)
    assert not policy.seen[15][..., :3].any(), "another episode begins with nothing seen"


def test_callable_object_is_closed_with_its_agent() -> None:
    class Model:
        closed = False

        def __call__(self, seen: Seen) -> None:
            """Do nothing."""

        def close(self) -> None:
            self.closed = True

    model = Model()
    CallableAgent(model).close()
    assert model.closed
