"""A model of OpenAI's uses a computer, by their computer tool.

    pip install "pluriverse[mcp]" openai
    OPENAI_API_KEY=… python examples/openai_computer.py wob.mini.ClickTest-v0 MODEL "Click the button."

Its actions are read as calls of pluriverse's own tools, which check their arguments.
"""

import argparse
from typing import Any

from pluriverse.adapters.computer import Act, Answer, Computer, calls
from pluriverse.errors import ActionError

TOOLS = [{"type": "computer"}]

BUTTONS = {"left": "left", "right": "right", "wheel": "middle", "back": "back", "forward": "forward"}

# Pixels that a page goes by for a click of the wheel, about; wait has no time, and their examples wait so long.
PIXELS_OF_A_CLICK = 100
WAIT_S = 2.0


def play(client: Any, computer: Computer, model: str, asks: str) -> float:
    """Let a model play the episode that runs; return what it earned."""
    seen = {"type": "input_image", "image_url": computer.look().data_url(), "detail": "original"}
    given: list[Any] = [{"role": "user", "content": [{"type": "input_text", "text": asks}, seen]}]
    before = None
    while not computer.over:
        said = client.responses.create(model=model, tools=TOOLS, input=given, previous_response_id=before)
        before = said.id
        asked = [item for item in said.output if item.type == "computer_call"]
        if not asked:
            break
        given = [item for call in asked for item in answered(computer, call)]
    computer.refresh()
    return computer.total_reward


def answered(computer: Computer, call: Any) -> list[dict[str, Any]]:
    """Do what a call asks for; return the items that answer it: a picture, and why an action failed."""
    if call.pending_safety_checks:
        raise SystemExit(f"a person is to look at this first: {call.pending_safety_checks}")
    actions = [action.model_dump(exclude_none=True) for action in call.actions or ()]
    answers = computer.do_all([lambda action=action: read(action) for action in actions])
    output = {"type": "computer_screenshot", "image_url": computer.seen().data_url()}
    items: list[dict[str, Any]] = [{"type": "computer_call_output", "call_id": call.call_id, "output": output}]
    if why := failures(answers):
        items.append({"role": "user", "content": [{"type": "input_text", "text": why}]})
    return items


def read(action: dict[str, Any]) -> Act:
    """Return what an action asks for; raise ActionError, whose text the model is told."""
    try:
        tool, arguments = translated(action)
    except (AttributeError, KeyError, TypeError) as error:
        raise ActionError(f"{action!r:.80} can't be read: {type(error).__name__}: {error}") from error
    return calls.read({"name": tool, "arguments": arguments})


def translated(action: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the tool of ours that does the same, and its arguments."""
    at = {name: action[name] for name in ("x", "y") if name in action}
    keys = "+".join(action.get("keys", ()))
    match action["type"]:
        case "click":
            return "click", {**at, "button": BUTTONS[action["button"]], "holding": keys}
        case "double_click":
            return "click", {**at, "count": 2, "holding": keys}
        case "drag":
            return "drag", {"path": [(point["x"], point["y"]) for point in action["path"]], "holding": keys}
        case "move":
            return "move_pointer", {**at, "holding": keys}
        case "scroll":
            right, down = (clicks(action.get(name, 0)) for name in ("scroll_x", "scroll_y"))
            return "scroll", {**at, "right": right, "down": down, "holding": keys}
        case "keypress":
            return "press_keys", {"keys": keys}
        case "type":
            return "type_text", {"text": action["text"]}
        case "wait":
            return "wait", {"seconds": WAIT_S}
        case "screenshot":
            return "look", {}
        case name:
            raise KeyError(name)


def clicks(pixels: int) -> int:
    """Return the clicks of the wheel for a distance: at least one for any."""
    count = -(-abs(pixels) // PIXELS_OF_A_CLICK)
    return count if pixels > 0 else -count


def failures(answers: list[Answer]) -> str:
    """Return what the model is told of actions that failed, or of which keys were ignored."""
    return "\n".join(f"action {number}: {each.message}" for number, each in enumerate(answers, 1) if each.message)


def main() -> None:
    """Play an episode."""
    import openai

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("env")
    parser.add_argument("model")
    parser.add_argument("asks", help="what the model is to do")
    parser.add_argument("--remotes", default="1")
    given = parser.parse_args()
    with Computer(given.env, given.remotes) as computer:
        computer.begin()
        print(play(openai.OpenAI(), computer, given.model, given.asks))


if __name__ == "__main__":
    main()
