"""A page's messages, checked, and the reports that follow from them: changes of values are rewards. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from pluriverse_protocol import reports
from pluriverse_protocol.limits import MAX_EPISODE_ID, MAX_PIXELS, MAX_REPORT_BYTES, MAX_SIDE, MAX_TIME_S
from pluriverse_protocol.reports import MAX_REPORT_DEPTH
from pluriverse_protocol.strict_json import dump, parse_object

from pluriverse_server.manifest.game import RewardTable

# No game counts this far; sums of such values stay exact in agents' floats.
MAX_VALUE: Final = 1e9

# Room for the rest of a report beside its observation or text.
_REPORT_MARGIN: Final = 1024

# The longest text and observation that can be reported, in characters, each of which may take six bytes of JSON.
MAX_CHARS: Final = (MAX_REPORT_BYTES - _REPORT_MARGIN) // 6

# A reason is shown on a line or two.
MAX_REASON_CHARS: Final = 200


class BadValue(Exception):
    """The page sent an impossible value; the message is the reason why its episode ends."""


@dataclass(frozen=True, slots=True)
class PageMessage:
    """One message of the watcher: what is new in episode ``episode`` of the page; None where nothing is new.

    ``at`` is the page's clock in UNIX seconds, ``values`` has one number for each of the manifest's rewards.
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


def read(payload: str, rewards: int) -> PageMessage:
    try:
        said = parse_object(payload, max_depth=MAX_REPORT_DEPTH)
    except ValueError as error:
        raise BadValue(f"the page said what can't be read: {error}") from None
    return PageMessage(
        episode=_episode(said.get("episode")),
        at=_number("at", said.get("at"), MAX_TIME_S),
        ready=said.get("ready") is True,
        picture=_picture(said.get("picture")),
        values=_values(said.get("values"), rewards),
        text=_text("text", said.get("text"), MAX_CHARS),
        observation=_observation(said.get("observation")),
        done=_text("done", said.get("done"), MAX_REASON_CHARS),
        truncated=_text("truncated", said.get("truncated"), MAX_REASON_CHARS),
        fault=_text("fault", said.get("fault"), 2 * MAX_REASON_CHARS),
    )


class Scores:
    """One episode's values, as last seen."""

    def __init__(self, rewards: Sequence[RewardTable]) -> None:
        self._rewards = rewards
        self._values: tuple[float, ...] = (0.0,) * len(rewards)
        self.running = False

    def reports(self, said: PageMessage) -> list[reports.Report]:
        """Return the reports that follow from ``said``, in order; it is of this episode and has no fault."""
        earned = self._earn(said)
        found: list[reports.Report] = []
        if said.ready and not self.running:
            self.running = True
            found.append(reports.Ready(said.episode, picture=said.picture))
        if said.text:
            found.append(reports.Text(said.episode, said.text))
        if said.observation is not None:
            found.append(reports.Observation(said.episode, said.observation))
        if said.done is not None or said.truncated is not None:
            terminated = said.done is not None
            reason = (said.done if terminated else said.truncated) or ""
            earned += self._sum("end", self._values)
            found.append(reports.Done(said.episode, earned, terminated, not terminated, reason, said.at))
        elif earned:
            found.append(reports.Reward(said.episode, earned, said.at))
        return found

    def _earn(self, said: PageMessage) -> float:
        if said.values is None:
            return 0.0
        before, self._values = self._values, said.values
        # A page that is loaded again within an episode starts counting again.
        if said.ready:
            return 0.0
        return self._sum("change", [now - then for now, then in zip(said.values, before, strict=True)])

    def _sum(self, give: str, values: Sequence[float]) -> float:
        return sum(value for value, table in zip(values, self._rewards, strict=True) if table.give == give)


def _episode(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= MAX_EPISODE_ID:
        raise BadValue(f"the page speaks of episode {value!r:.80}")
    return value


def _number(key: str, value: Any, limit: float) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise BadValue(f"page: {key} is {value!s:.80}, expected a number")
    if not -limit <= value <= limit:
        raise BadValue(f"page: {key} is {value:g}, expected at most {limit:g}")
    return float(value)


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
    whole = [int(item) for item in items if isinstance(item, int | float) and 0 <= item <= MAX_SIDE]
    if len(items) != 4 or whole != items or whole[2] == 0 or whole[3] == 0:
        raise BadValue(f"page: picture is {value!r:.80}, expected [x, y, width, height] in whole pixels")
    x, y, width, height = whole
    if max(x + width, y + height) > MAX_SIDE or width * height > MAX_PIXELS:
        raise BadValue(f"page: picture is {value!r:.80}, which is on no screen of RFB")
    return x, y, width, height


def _text(key: str, value: Any, limit: int) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise BadValue(f"page: {key} is {value!r:.80}, expected a string")
    if len(value) > limit:
        raise BadValue(f"page: {key} is {len(value)} characters long, over {limit}")
    # JavaScript strings may contain half a surrogate pair, which UTF-8 can't encode.
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
