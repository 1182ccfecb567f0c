import contextlib
import shlex
import sys
from pathlib import Path

import psutil
import pytest
from pluriverse.adapters.computer import Click, Press
from pluriverse.errors import ConfigurationError
from pluriverse_eval.agents import AgentFailed, hold, open_agent
from pluriverse_eval.agents import command as commands
from pluriverse_eval.agents.command import MAX_LINE_BYTES, CommandAgent, read
from pluriverse_eval.modes import parse_modes
from pluriverse_eval.play import Play

pytestmark = pytest.mark.display

(PAUSED,) = parse_modes("paused")

# Answers each picture with the next of its arguments, the last ones again, and writes down what it reads.
PROGRAM = """
import json, sys
log, *answers = sys.argv[1:]
for number, line in enumerate(sys.stdin):
    message = json.loads(line)
    message.pop("image", None)
    print(json.dumps(message), file=open(log, "a"))
    if "media_type" in message or "error" in message:
        print(answers.pop(0) if len(answers) > 1 else answers[0], flush=True)
"""


def program(folder: Path, *answers: str) -> str:
    path = folder / "agent.py"
    path.write_text(PROGRAM)
    return shlex.join([sys.executable, str(path), str(folder / "log"), *answers])


def test_program_is_told_the_task_and_each_picture_and_plays_several_episodes(play: Play, tmp_path: Path) -> None:
    with contextlib.closing(CommandAgent(program(tmp_path, '{"action": 2, "frames": 30}'))) as agent:
        for seed in (0, 1):
            play.start(seed, PAUSED)
            agent.play(play)
            assert play.over
    lines = (tmp_path / "log").read_text().splitlines()
    assert len(lines) == 8
    assert lines[0] == (
        '{"task": "pong", "asks": "Return the ball.", "width": 160, "height": 210, "clock": "lockstep"}'
    )
    assert lines[1] == '{"media_type": "image/png", "text": "", "reward": 0.0, "ms": 0.0}'
    assert lines[3] == '{"over": "budget"}'


def test_program_that_failed_an_episode_is_started_again_for_the_next_one(play: Play, tmp_path: Path) -> None:
    first = tmp_path / "first"
    agent = CommandAgent(f"sh -c 'test -e {first} || {{ touch {first}; exit 3; }}; {program(tmp_path, '{}')}'")
    with contextlib.closing(agent):
        play.start(0, PAUSED)
        with pytest.raises(AgentFailed, match="has ended"):
            agent.play(play)
        play.start(1, PAUSED)
        agent.play(play)
    assert play.over


def test_answer_that_cannot_be_done_is_told_and_may_be_given_again(play: Play, tmp_path: Path) -> None:
    play.start(0, PAUSED)
    answers = ("what?", "[" * 100_000, '{"action": 77}', '{"calls": [{"name": "wait"}]}', "{}")
    with contextlib.closing(open_agent("command:" + program(tmp_path, *answers))) as agent:
        agent.play(play)
    log = (tmp_path / "log").read_text()
    assert "isn't JSON" in log
    assert "77" in log
    assert "wait: seconds: Missing required argument" in log
    assert play.over


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("echo {} {} {}", "has ended"),
        (f"{sys.executable} -c \"print('x' * {2 * MAX_LINE_BYTES}, flush=True); input()\"", "a line of more than"),
        ("yes nonsense", "10 answers"),
    ],
)
def test_program_that_does_not_play_fails_its_episode(play: Play, words: str, said: str) -> None:
    play.start(0, PAUSED)
    with contextlib.closing(CommandAgent(words)) as agent, pytest.raises(AgentFailed, match=said):
        agent.play(play)


def test_program_that_reads_nothing_is_given_up(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "ANSWER_S", 0.2)
    play.start(0, PAUSED)
    # More than a pipe holds.
    monkeypatch.setattr(play, "task", play.task.model_copy(update={"asks": "x" * 1_000_000}))
    with (
        contextlib.closing(CommandAgent("sleep 1000")) as agent,
        pytest.raises(AgentFailed, match=r"has not read for 0\.2 s"),
    ):
        agent.play(play)


def test_program_that_hangs_is_given_up_and_ended_with_its_children(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "ANSWER_S", 0.2)
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    play.start(0, PAUSED)
    agent = CommandAgent("sh -c 'sleep 1000 & sleep 1000'")
    with contextlib.closing(agent), pytest.raises(AgentFailed, match=r"has not written for 0\.2 s"):
        agent.play(play)
    assert {process.pid for process in psutil.Process().children(recursive=True)} <= before


@pytest.mark.parametrize("words", ["/nowhere/agent", "'unclosed"])
def test_program_that_cannot_be_started_is_refused(words: str) -> None:
    with pytest.raises(ConfigurationError, match="can't be started"):
        CommandAgent(words)


def test_answers_are_calls_actions_or_nothing() -> None:
    calls = [{"name": "click", "arguments": {"x": 1, "y": 2}}, {"name": "press_keys", "arguments": {"keys": "a"}}]
    assert read({"calls": calls}) == [Click(at=(1, 2)), Press((97,))]
    assert read({"action": [0, 1], "frames": 3}) == hold([0, 1], 3)
    assert read({}) is None
