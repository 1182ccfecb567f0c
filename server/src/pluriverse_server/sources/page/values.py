"""What a page says, checked: nothing of it is believed before it has passed here. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, cast

from pluriverse_protocol.limits import MAX_COORDINATE, MAX_EPISODE_ID, MAX_REPORT_BYTES
from pluriverse_protocol.reports import MAX_REPORT_DEPTH
from pluriverse_protocol.strict_json import dump, parse_object

# No game counts so far; sums of such values stay exact in agents' floats.
MAX_VALUE: Final = 1e9

# What stands beside an observation or text in its report.
_REPORT_MARGIN: Final = 1024

# Texts and observations as they may be reported, in characters of which JSON may make six each.
MAX_CHARS: Final = (MAX_REPORT_BYTES - _REPORT_MARGIN) // 6

# A reason is shown on a line or two.
MAX_REASON_CHARS: Final = 200


class BadValue(Exception):
    """The page said what can't be so; the message is the reason why its episode ends."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the watcher: what is new in the page's episode ``episode``. None where there is nothing new.

    ``at`` is the page's clock in UNIX seconds, ``values`` one number for each of the manifest's rewards.
    """

    episode: int
    at: float
    ready: bool = False
    picture: tuple[int, int, int, int] | None = None
    values: tuple[float, ...] | None = None
    text: str | None = None
    observation: Any = None
    done: str | None = None
    truncated: str | None = None
    fault: str | None = None


def read(payload: str, rewards: int) -> Said:
    """What the watcher says in ``payload``, JSON; there are ``rewards`` rewards.

    Raises:
        BadValue: it says what can't be so, or isn't the watcher's at all.
    """
    try:
        said = parse_object(payload, max_depth=MAX_REPORT_DEPTH)
    except ValueError as error:
        raise BadValue(f"the page said what can't be read: {error}") from None
    return Said(
        episode=_episode(said.get("episode")),
        at=_number("at", said.get("at"), 1e12),
        ready=said.get("ready") is True,
        picture=_picture(said.get("picture")),
        values=_values(said.get("values"), rewards),
        text=_text("text", said.get("text"), MAX_CHARS),
        observation=_observation(said.get("observation")),
        done=_text("done", said.get("done"), MAX_REASON_CHARS),
        truncated=_text("truncated", said.get("truncated"), MAX_REASON_CHARS),
        fault=_text("fault", said.get("fault"), 2 * MAX_REASON_CHARS),
    )


def _episode(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_EPISODE_ID:
        raise BadValue(f"the page speaks of episode {value!r:.80}")
    return value


def _number(key: str, value: Any, limit: float) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise BadValue(f"page: {key} is {value!s:.80}, expected a number")
    # Integers of any length are compared before they are made floats, which the largest can't be.
    if not -limit <= value <= limit:
        raise BadValue(f"page: {key} is {_short(value)}, expected at most {limit:g}")
    return float(value)


def _short(value: float) -> str:
    try:
        return f"{float(value):g}"
    except OverflowError:
        return "an integer that is no float"


def _values(value: Any, rewards: int) -> tuple[float, ...] | None:
    if value is None:
        return None
    items = cast("list[Any]", value) if isinstance(value, list) else []
    if len(items) != rewards:
        raise BadValue(f"page: expected {rewards} reward values, got {value!r:.80}")
    return tuple(_number(f"rewards[{index}].value", item, MAX_VALUE) for index, item in enumerate(items))


def _picture(value: Any) -> tuple[int, int, int, int] | None:
    if value is None:
        return None
    items = cast("list[Any]", value) if isinstance(value, list) else []
    whole = [int(item) for item in items if isinstance(item, int | float) and 0 <= item <= MAX_COORDINATE]
    if len(items) != 4 or whole != items or whole[2] == 0 or whole[3] == 0:
        raise BadValue(f"page: picture is {value!r:.80}, expected [x, y, width, height] in whole pixels")
    x, y, width, height = whole
    return x, y, width, height


def _text(key: str, value: Any, limit: int) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadValue(f"page: {key} is {value!r:.80}, expected a string")
    if len(value) > limit:
        raise BadValue(f"page: {key} is {len(value)} characters long, over {limit}")
    # Half a surrogate pair is a string in JavaScript, but none that UTF-8 can carry.
    return value.encode(errors="replace").decode()


def _observation(value: Any) -> Any:
    if value is None:
        return None
    try:
        text = dump({"observation": value})
    except ValueError as error:
        raise BadValue(f"page: observation can't be sent: {error}") from None
    if len(text) > MAX_REPORT_BYTES - _REPORT_MARGIN:
        raise BadValue(f"page: observation is {len(text)} bytes of JSON, over {MAX_REPORT_BYTES - _REPORT_MARGIN}")
    return value
