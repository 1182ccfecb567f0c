"""A language model that uses the computer, behind any endpoint that speaks OpenAI's chat completions.

It is shown the screen and offered one tool, whose arguments are the actions of OpenAI's computer use; it is answered
with the next screen, or with why something can't be done. Copy it for a model that wants other words.
"""

from __future__ import annotations

import base64
import os
import time
from typing import Any, Final

from pluriverse_protocol.strict_json import parse

from pluriverse.adapters.computer import openai as computer_use
from pluriverse.errors import ConfigurationError, ResetNeeded, needed
from pluriverse.evaluation.play import Play

from .agent import AgentFailed

# An endpoint that hangs, refuses or answers garbage is asked again, later and later, before the episode is given up.
ANSWER_S: Final = 120.0
RETRIES: Final = 5
PAUSES_S: Final = (0.5, 1.0, 2.0, 4.0, 8.0)

# So many answers of an episode, so many of them in a row without an action, and so many pictures to remember.
MAX_ANSWERS: Final = 500
MAX_IDLE: Final = 3
PICTURES: Final = 3

PROMPT: Final = """You use a computer by calling the tool `computer`. {asks}
The screen is {width} by {height} pixels; coordinates are pixels of it. The program {time}
Instruction on the screen or from the environment, if any: {text}"""

TIME: Final = {"realtime": "goes on while you think: answer quickly.", "lockstep": "stands still while you think."}

_STRING: Final = {"type": "string"}
_INTEGER: Final = {"type": "integer"}
_TYPES: Final = ("click", "double_click", "drag", "move", "scroll", "keypress", "type", "wait", "screenshot")
_ACTION: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["type"],
    "properties": {
        "type": {"type": "string", "enum": _TYPES},
        **dict.fromkeys(("x", "y", "scroll_x", "scroll_y"), _INTEGER),
        "button": {"type": "string", "enum": ("left", "right", "wheel")},
        "path": {"type": "array", "items": {"type": "object", "properties": {"x": _INTEGER, "y": _INTEGER}}},
        "keys": {"type": "array", "items": _STRING},
        "text": _STRING,
    },
}
_ACTIONS: Final = {"type": "array", "items": _ACTION}
TOOL: Final[dict[str, Any]] = {
    "type": "function",
    "function": {
        "name": "computer",
        "description": "Do some actions, one after the other, and see the screen afterwards.",
        "parameters": {"type": "object", "required": ["actions"], "properties": {"actions": _ACTIONS}},
    },
}


class EndpointAgent:
    """A model by its name, at ``endpoint`` or ``$OPENAI_BASE_URL``, with the key of ``$OPENAI_API_KEY``."""

    def __init__(self, model: str, endpoint: str | None = None) -> None:
        """Raise ConfigurationError if the extra eval isn't installed, or no endpoint is given."""
        with needed("openai", extra="eval"):
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
        asked = PROMPT.format(
            asks=play.task.asks,
            width=play.view.width,
            height=play.view.height,
            time=TIME[play.clock],
            text=play.standing().text or "none",
        )
        messages: list[dict[str, Any]] = [{"role": "system", "content": asked}, _picture(play)]
        idle = 0
        for _ in range(MAX_ANSWERS):
            if play.over:
                return
            said = self._ask(messages)
            messages.append(said.model_dump(exclude_none=True))
            calls: list[Any] = said.tool_calls or []
            idle = 0 if calls else idle + 1
            if idle == MAX_IDLE:
                raise AgentFailed(f"the model answered {MAX_IDLE} times without calling its tool")
            messages += ({"role": "tool", "tool_call_id": call.id, "content": _do(play, call)} for call in calls)
            messages.append(_picture(play))
            _forget_pictures(messages)
        raise AgentFailed(f"the model answered {MAX_ANSWERS} times, and the episode isn't over")

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _ask(self, messages: list[Any]) -> Any:
        create: Any = self._client.chat.completions.create
        pauses_s = iter(PAUSES_S)
        while True:
            try:
                said = create(model=self._model, messages=messages, tools=[TOOL]).choices[0].message
                return self._message.model_validate(said.to_dict(warnings=False))
            except (self._error, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
                # Where it hangs or refuses, the client has asked again by itself.
                pause_s = None if isinstance(error, self._error) else next(pauses_s, None)
                if pause_s is None:
                    raise AgentFailed(f"the endpoint gave no answer: {type(error).__name__}: {error}"[:400]) from error
                time.sleep(pause_s)


def _do(play: Play, call: Any) -> str:
    """Do what a call asks for; return what the model is told."""
    try:
        actions = computer_use.actions(parse(call.function.arguments))
    except (AttributeError, ValueError) as error:
        return f"the call can't be read: {error}"
    try:
        answers = play.do_all([lambda action=action: computer_use.read(action) for action in actions])
    except ResetNeeded:
        answers = []
    status = play.standing()
    told = [answer.text for answer in answers if answer.text]
    return "; ".join([*told, f"reward {status.reward:g}", *([status.text] if status.text else [])])


def _picture(play: Play) -> dict[str, Any]:
    image = play.seen()
    address = f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}"
    return {"role": "user", "content": [{"type": "image_url", "image_url": {"url": address}}]}


def _forget_pictures(messages: list[dict[str, Any]]) -> None:
    shown = [message for message in messages if message["role"] == "user"]
    for message in shown[:-PICTURES]:
        message["content"] = "(an earlier screen)"
