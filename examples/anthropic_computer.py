"""A model of Anthropic's uses a computer, by their toolset computer_toolset_20260801.

    pip install "pluriverse[mcp]" anthropic
    ANTHROPIC_API_KEY=… python examples/anthropic_computer.py wob.mini.ClickTest-v0 MODEL "Click the button."

Its members are read as calls of pluriverse's own tools, which check their arguments.
"""

import argparse
import base64
from typing import Any

from pluriverse.adapters.computer import Act, Answer, Computer, Look, Where, calls
from pluriverse.errors import ActionError

TOOLS = [{"type": "computer_toolset_20260801"}]
MAX_TOKENS = 4096

CLICKS = {
    "left_click": ("left", 1),
    "right_click": ("right", 1),
    "middle_click": ("middle", 1),
    "double_click": ("left", 2),
    "triple_click": ("left", 3),
}
SCROLLS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


def play(client: Any, computer: Computer, model: str, asks: str) -> float:
    """Let a model play the episode that runs; return what it earned."""
    seen = [{"type": "text", "text": asks}, *content(computer.do(Look()))]
    messages: list[Any] = [{"role": "user", "content": seen}]
    while not computer.over:
        said = client.beta.messages.create(model=model, max_tokens=MAX_TOKENS, tools=TOOLS, messages=messages)
        messages.append({"role": "assistant", "content": said.content})
        blocks = [block for block in said.content if block.type == "tool_use"]
        if not blocks:
            break
        answers = computer.do_all([lambda block=block: read(block.name, block.input) for block in blocks])
        results = [result(block, answer) for block, answer in zip(blocks, answers, strict=True)]
        messages.append({"role": "user", "content": results})
    computer.refresh()
    return computer.total_reward


def read(name: str, given: dict[str, Any]) -> Act:
    """Return what a member of the toolset asks for; raise ActionError, whose text the model is told."""
    if name == "cursor_position":
        return Where()
    try:
        tool, arguments = translated(name, {key: value for key, value in given.items() if value is not None})
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ActionError(f"{name} can't be read: {type(error).__name__}: {error}") from error
    return calls.read({"name": tool, "arguments": arguments})


def translated(name: str, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the tool of ours that does the same, and its arguments."""
    at = dict(zip("xy", given["coordinate"], strict=True)) if "coordinate" in given else {}
    match name:
        case "screenshot":
            return "look", {}
        case "zoom":
            return "look", {"region": given["region"]}
        case "mouse_move":
            return "move_pointer", at
        case "left_click_drag":
            path = [given["start_coordinate"], given["coordinate"]]
            return "drag", {"path": path, "holding": given.get("text", "")}
        case "left_mouse_down" | "left_mouse_up":
            return "hold_button", {"down": name == "left_mouse_down"}
        case "scroll":
            right, down = (each * given["scroll_amount"] for each in SCROLLS[given["scroll_direction"]])
            return "scroll", {**at, "right": right, "down": down, "holding": given.get("text", "")}
        case "type":
            return "type_text", {"text": given["text"]}
        case "key":
            return "press_keys", {"keys": given["text"], "repeat": given.get("repeat", 1)}
        case "hold_key":
            return "press_keys", {"keys": given["text"], "seconds": given["duration"]}
        case "wait":
            return "wait", {"seconds": given["duration"]}
        case _:
            button, count = CLICKS[name]
            return "click", {**at, "button": button, "count": count, "holding": given.get("text", "")}


def result(block: Any, answer: Answer) -> dict[str, Any]:
    """Return the block that answers a call."""
    told = {"type": "tool_result", "tool_use_id": block.id, "content": content(answer), "is_error": answer.failed}
    return {**told, "toolset_name": block.toolset_name}


def content(answer: Answer) -> list[dict[str, Any]]:
    """Return what was said, the reward and the picture as blocks."""
    told = [answer.message] if answer.message else []
    told += [] if answer.failed else [f"reward {answer.reward:.3g}"]
    blocks: list[dict[str, Any]] = [{"type": "text", "text": each} for each in told]
    if answer.image is not None:
        data = base64.b64encode(answer.image.data).decode()
        source = {"type": "base64", "media_type": answer.image.media_type, "data": data}
        blocks.append({"type": "image", "source": source})
    return blocks


def main() -> None:
    """Play an episode."""
    import anthropic

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("env")
    parser.add_argument("model")
    parser.add_argument("asks", help="what the model is to do")
    parser.add_argument("--remotes", default="1")
    given = parser.parse_args()
    with Computer(given.env, given.remotes) as computer:
        computer.begin()
        print(play(anthropic.Anthropic(), computer, given.model, given.asks))


if __name__ == "__main__":
    main()
