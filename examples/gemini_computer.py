"""A Gemini model uses a computer, by the function calls of their computer use.

    pip install "pluriverse[mcp]" google-genai
    GEMINI_API_KEY=… python examples/gemini_computer.py wob.mini.ClickTest-v0 MODEL "Click the button."

Its calls are read as calls of pluriverse's own tools, which check their arguments.
"""

import argparse
from typing import Any

from pluriverse.adapters.computer import Act, Answer, Computer, Image, View, calls
from pluriverse.errors import ActionError

CONFIG = {"tools": [{"computer_use": {"environment": "ENVIRONMENT_BROWSER"}}]}

# Coordinates are 0 to 999, whatever size the picture has.
GRID = 1000

# Of the grid, by a click of the wheel, about; and how far scroll_document goes.
MAGNITUDE_OF_A_CLICK = 100
DOCUMENT_CLICKS = 5

DIRECTIONS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
KEYS = {"go_back": "BrowserBack", "go_forward": "BrowserForward"}

Call = tuple[str, dict[str, Any]]


def play(client: Any, computer: Computer, model: str, asks: str) -> float:
    """Let a model play the episode that runs; return what it earned."""
    contents: list[Any] = [{"role": "user", "parts": [{"text": asks}, part(computer.look())]}]
    while not computer.over:
        said = client.models.generate_content(model=model, contents=contents, config=CONFIG).candidates[0].content
        contents.append(said)
        asked = [each.function_call for each in said.parts if each.function_call]
        if not asked:
            break
        contents.append({"role": "user", "parts": [answered(computer, call) for call in asked]})
    computer.refresh()
    return computer.total_reward


def answered(computer: Computer, call: Any) -> dict[str, Any]:
    """Do what a call asks for; return the part that answers it: a picture, and what of it wasn't done."""
    if "safety_decision" in call.args:
        raise SystemExit(f"a person is to look at this first: {call.args['safety_decision']}")
    try:
        answers = computer.do_all([lambda act=act: act for act in read(call.name, call.args, computer.view)])
    except ActionError as error:
        answers = [Answer(str(error), failed=True)]
    failed = [answer.message for answer in answers if answer.message]
    response = {"url": "about:blank", **({"error": failed[0]} if failed else {})}
    return {"function_response": {"name": call.name, "response": response, "parts": [part(computer.seen())]}}


def read(name: str, given: dict[str, Any], view: View) -> list[Act]:
    """Return what a call asks for, to be done one after the other; raise ActionError, whose text the model is told."""
    try:
        asked = list(translated(name, given, view))
    except (AttributeError, KeyError, TypeError) as error:
        raise ActionError(f"{name} can't be read: {type(error).__name__}: {error}") from error
    return [calls.read({"name": tool, "arguments": arguments}) for tool, arguments in asked]


def translated(name: str, given: dict[str, Any], view: View) -> list[Call]:
    """Return the tools of ours that do the same, and their arguments."""

    def at(of: str = "") -> dict[str, int]:
        x, y = (given[of + axis] for axis in "xy")
        if not (0 <= x < GRID and 0 <= y < GRID):
            raise ActionError(f"({x}, {y}) is outside of the grid; expected 0 to {GRID - 1}")
        # The pixel in the middle of a cell.
        return {"x": (2 * x + 1) * view.width // (2 * GRID), "y": (2 * y + 1) * view.height // (2 * GRID)}

    match name:
        case "open_web_browser":
            return [("look", {})]
        case "click_at":
            return [("click", at())]
        case "hover_at":
            return [("move_pointer", at())]
        case "type_text_at":
            clear = [("press_keys", {"keys": keys}) for keys in ("ctrl+a", "Delete")]
            enter = [("press_keys", {"keys": "Return"})]
            text = ("type_text", {"text": given["text"]})
            before = clear if given.get("clear_before_typing", True) else []
            return [("click", at()), *before, text, *(enter if given.get("press_enter", True) else [])]
        case "key_combination":
            return [("press_keys", {"keys": given["keys"]})]
        case "scroll_at" | "scroll_document":
            whole = name == "scroll_document"
            clicks = DOCUMENT_CLICKS if whole else -(-given.get("magnitude", 800) // MAGNITUDE_OF_A_CLICK)
            right, down = (each * clicks for each in DIRECTIONS[given["direction"]])
            place = {"x": view.width // 2, "y": view.height // 2} if whole else at()
            return [("scroll", {**place, "right": right, "down": down})]
        case "drag_and_drop":
            return [("drag", {"path": [tuple(at().values()), tuple(at("destination_").values())]})]
        case "wait_5_seconds":
            return [("wait", {"seconds": 5})]
        case _:
            return [("press_keys", {"keys": KEYS[name]})]


def part(image: Image) -> dict[str, Any]:
    """Return a picture as a part."""
    return {"inline_data": {"mime_type": image.media_type, "data": image.data}}


def main() -> None:
    """Play an episode."""
    from google import genai

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("env")
    parser.add_argument("model")
    parser.add_argument("asks", help="what the model is to do")
    parser.add_argument("--remotes", default="1")
    given = parser.parse_args()
    with Computer(given.env, given.remotes) as computer:
        computer.begin()
        print(play(genai.Client(), computer, given.model, given.asks))


if __name__ == "__main__":
    main()
