"""A language model that uses the computer, behind any endpoint that speaks OpenAI's chat completions.

It is shown the screen and offered the tools of ``pluriverse.adapters.computer.calls``; it is answered with the next
screen, or with why something can't be done. Copy it for a model that wants other words.
"""

from __future__ import annotations

import base64
import os
import time
from collections.abc import Iterable, Sequence
from typing import Any, Final

from pluriverse.adapters.computer import Act, calls
from pluriverse.errors import ActionError, ConfigurationError
from pluriverse_protocol.strict_json import parse
from pydantic import TypeAdapter

from pluriverse_eval.play import Play

from .agent import AgentFailed

# An endpoint that hangs, refuses or answers garbage is asked again, later and later, before the episode is given up.
ANSWER_S: Final = 120.0
RETRIES: Final = 5
PAUSES_S: Final = (0.5, 1.0, 2.0, 4.0, 8.0)

# So many answers of an episode, so many of them in a row without an action, and so many pictures to remember.
MAX_ANSWERS: Final = 500
MAX_IDLE: Final = 3
PICTURES: Final = 3

PROMPT: Final = """You use a computer by calling tools. {asks}
The screen is {width} by {height} pixels; coordinates are pixels of it. The program {time}
Instruction on the screen or from the environment, if any: {text}"""

TIME: Final = {"realtime": "keeps running while you think: answer quickly.", "lockstep": "is paused while you think."}


def _tool(call: Any) -> dict[str, Any]:
    parameters = TypeAdapter[Any](call).json_schema()
    return {
        "type": "function",
        "function": {"name": call.__name__, "description": call.__doc__, "parameters": parameters},
    }


TOOLS: Final = [_tool(call) for call in calls.ACTING]


class EndpointAgent:
    """A model by its name, at ``endpoint`` or ``$OPENAI_BASE_URL``, with the key of ``$OPENAI_API_KEY``."""

    def __init__(self, model: str, endpoint: str | None = None) -> None:
        """Raise ConfigurationError if no endpoint is given."""
        import openai
        from openai.types.chat import ChatCompletionMessage

        endpoint = endpoint or os.environ.get("OPENAI_BASE_URL")
        if not endpoint:
            raise ConfigurationError(f"--agent openai:{model} needs --endpoint URL, or $OPENAI_BASE_URL")
        self._model = model
        self._error = openai.OpenAIError
        self._message = ChatCompletionMessage
        key = os.environ.get("OPENAI_API_KEY", "none")
        self._client = openai.OpenAI(base_url=endpoint, api_key=key, timeout=ANSWER_S, max_retries=RETRIES)

    def play(self, play: Play) -> None:
        """Play until the episode is over; raise AgentFailed if nothing answers, or the model doesn't act."""
        play.refresh()
        prompt = PROMPT.format(
            asks=play.task.asks,
            width=play.view.width,
            height=play.view.height,
            time=TIME[play.clock],
            text=play.standing().text or "none",
        )
        messages: list[dict[str, Any]] = [{"role": "system", "content": prompt}, _picture(play)]
        idle = 0
        for _ in range(MAX_ANSWERS):
            if play.over:
                return
            said = self._ask(messages)
            messages.append(said.model_dump(exclude_none=True))
            asked: list[Any] = said.tool_calls or []
            idle = 0 if asked else idle + 1
            if idle == MAX_IDLE:
                raise AgentFailed(f"the model answered {MAX_IDLE} times without calling a tool")
            messages += _do_all(play, asked)
            messages.append(_picture(play))
            _forget_pictures(messages)
        raise AgentFailed(f"the model answered {MAX_ANSWERS} times, and the episode isn't over")

    def close(self) -> None:
        self._client.close()

    def _ask(self, messages: list[Any]) -> Any:
        create: Any = self._client.chat.completions.create
        pauses_s = iter(PAUSES_S)
        while True:
            try:
                said = create(model=self._model, messages=messages, tools=TOOLS).choices[0].message
                return self._message.model_validate(said.to_dict(warnings=False))
            except (self._error, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
                # Where it hangs or refuses, the client has asked again by itself.
                pause_s = None if isinstance(error, self._error) else next(pauses_s, None)
                if pause_s is None:
                    raise AgentFailed(f"the endpoint gave no answer: {type(error).__name__}: {error}"[:400]) from error
                time.sleep(pause_s)


def _do_all(play: Play, asked: Sequence[Any]) -> Iterable[dict[str, Any]]:
    """Execute the calls; yield the model's answer to each."""
    answers = play.do_all([lambda call=call: _read(call) for call in asked])
    status = play.standing()
    for call, answer in zip(asked, answers, strict=True):
        told = [part for part in (answer.message, f"reward {status.reward:g}", status.text) if part]
        yield {"role": "tool", "tool_call_id": call.id, "content": "; ".join(told)}


def _read(call: Any) -> Act:
    try:
        return calls.read({"name": call.function.name, "arguments": parse(call.function.arguments)})
    except (AttributeError, ValueError) as error:
        raise ActionError(f"the call can't be read: {error}") from error


def _picture(play: Play) -> dict[str, Any]:
    image = play.seen()
    address = f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}"
    return {"role": "user", "content": [{"type": "image_url", "image_url": {"url": address}}]}


def _forget_pictures(messages: list[dict[str, Any]]) -> None:
    shown = [message for message in messages if message["role"] == "user"]
    for message in shown[:-PICTURES]:
        message["content"] = "(an earlier screen)"
