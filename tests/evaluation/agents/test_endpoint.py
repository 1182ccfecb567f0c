"""Models behind endpoints, of which one here answers as it is told to."""

import contextlib
import json
import threading
from collections.abc import Generator
from typing import Any

import pytest
from pluriverse.errors import ConfigurationError
from pluriverse_eval.agents import AgentFailed, endpoint
from pluriverse_eval.agents.endpoint import PICTURES, EndpointAgent
from pluriverse_eval.modes import parse_modes
from pluriverse_eval.play import Play
from support.evaluated import task
from support.sockets import answering

pytestmark = pytest.mark.display

(PAUSED,) = parse_modes("paused")
CLICK = ("click", {"x": 40, "y": 120})
WAIT = ("wait", {"seconds": 2})


@pytest.fixture
def pong(play: Play) -> Play:
    play.task = task(seconds=4)
    return play


class Endpoint:
    """Answers with the next of ``answers``, the last of them again and again; keeps the requests."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, bytes]] = []
        self.requests: list[dict[str, Any]] = []
        self.released = threading.Event()
        self.url = ""

    def says(self, *answers: Any) -> None:
        """Answer with these: calls, a status, bytes as they are, or None to hang."""
        self.answers = [_answer(each) for each in answers]
        self.requests = []

    def answer(self, _path: str, asked: bytes) -> tuple[int, bytes]:
        self.requests.append(json.loads(asked))
        status, body = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if not status:
            # It hangs until the test's end.
            self.released.wait(30)
        return status or 200, body


def _answer(said: Any) -> tuple[int, bytes]:
    if said is None:
        return 0, b""
    if isinstance(said, int):
        return said, b'{"error": {"message": "too many requests"}}'
    if isinstance(said, bytes):
        return 200, said
    message: dict[str, Any] = {"role": "assistant", "content": "I think."}
    if not isinstance(said, str):
        calls = [{"name": name, "arguments": json.dumps(given)} for name, given in said]
        message["tool_calls"] = [
            {"id": f"call-{number}", "type": "function", "function": call} for number, call in enumerate(calls)
        ]
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return 200, json.dumps(
        {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
    ).encode()


@pytest.fixture
def scripted() -> Generator[Endpoint]:
    made = Endpoint()
    with answering(made.answer, "application/json") as address:
        made.url = f"{address}/v1"
        yield made
        made.released.set()


@pytest.fixture
def agent(scripted: Endpoint) -> Generator[EndpointAgent]:
    with contextlib.closing(EndpointAgent("small-model", scripted.url)) as agent:
        yield agent


def test_model_sees_pictures_acts_and_is_told_what_came_of_it(
    pong: Play, scripted: Endpoint, agent: EndpointAgent
) -> None:
    scripted.says([CLICK, WAIT])
    pong.start(0, PAUSED)
    agent.play(pong)
    assert pong.ended == "budget"
    assert len(pong.reactions_ms) == 2
    first, last = scripted.requests[0], scripted.requests[-1]
    assert first["model"] == "small-model"
    assert first["tools"][0]["function"]["name"] == "click"
    assert "x" in first["tools"][0]["function"]["parameters"]["properties"]
    system, picture = first["messages"]
    assert "Return the ball." in system["content"]
    assert "160 by 210 pixels" in system["content"]
    assert "is paused while you think" in system["content"]
    assert picture["content"][0]["image_url"]["url"].startswith("data:image/png;base64,")
    told = [message["content"] for message in last["messages"] if message["role"] == "tool"]
    assert told[0].startswith("reward ")


def test_only_the_last_pictures_are_sent_again(
    pong: Play, scripted: Endpoint, agent: EndpointAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "MAX_ANSWERS", 8)
    scripted.says([("move_pointer", {"x": 3, "y": 4})])
    pong.start(0, PAUSED)
    with pytest.raises(AgentFailed, match="answered 8 times"):
        agent.play(pong)
    shown = [message for message in scripted.requests[-1]["messages"] if isinstance(message["content"], list)]
    assert len(shown) == PICTURES


@pytest.mark.slow
def test_nonsense_is_answered_with_the_reason_and_harms_nothing(
    pong: Play, scripted: Endpoint, agent: EndpointAgent
) -> None:
    nonsense: list[Any] = [
        [("click", {"x": 10**9, "y": 0}), WAIT],
        [("press_keys", {"keys": "NoSuchKey"})],
        [("type_text", {"text": "x" * 100_000})],
        [WAIT] * 1000,
        "jump",
        [("fly", {})],
        [("wait", 7), ("wait", None)],
        [WAIT, WAIT],
    ]
    scripted.says(*nonsense)
    pong.start(0, PAUSED)
    agent.play(pong)
    assert pong.ended == "budget"
    told = [message["content"] for message in scripted.requests[-1]["messages"] if message["role"] == "tool"]
    for expected in ("outside the picture", "not executed", "NoSuchKey", "at most 10000 characters", "1000 actions"):
        assert any(expected in each for each in told), (expected, told)


def test_endpoint_that_refuses_for_a_while_is_asked_again(pong: Play, scripted: Endpoint, agent: EndpointAgent) -> None:
    scripted.says(429, 503, [WAIT, WAIT])
    pong.start(0, PAUSED)
    agent.play(pong)
    assert pong.ended == "budget"
    assert len(scripted.requests) == 3


GARBAGE = [b"<html>no</html>", b'{"choices": [{"message": null}]}', b"[1, 2]", b"[" * 100_000, b""]


@pytest.mark.parametrize("garbage", [429, 400, None, *GARBAGE])
def test_endpoint_that_does_not_answer_fails_the_episode(
    pong: Play, scripted: Endpoint, garbage: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "RETRIES", 1)
    monkeypatch.setattr(endpoint, "ANSWER_S", 0.5)
    monkeypatch.setattr(endpoint, "PAUSES_S", (0.0,))
    scripted.says(garbage)
    pong.start(0, PAUSED)
    agent = EndpointAgent("m", scripted.url)
    with contextlib.closing(agent), pytest.raises(AgentFailed, match="gave no answer"):
        agent.play(pong)
    assert len(scripted.requests) == (1 if garbage == 400 else 2)
    assert not pong.over


def test_endpoint_has_to_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ConfigurationError, match="--endpoint URL"):
        EndpointAgent("m")
