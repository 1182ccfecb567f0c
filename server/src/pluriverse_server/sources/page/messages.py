"""A page's messages, checked, and the reports that follow from them: changes of values are rewards. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, cast

from msgspec import Meta
from msgspec.structs import force_setattr
from pluriverse_protocol import kinds, reports
from pluriverse_protocol.kinds import Count, Flag, JsonObject, Picture, Time
from pluriverse_protocol.limits import MAX_REPORT_BYTES
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


def _text(limit: int) -> Meta:
    return Meta(max_length=limit, description=f"string of at most {limit} characters")


_Reason = Annotated[str, _text(MAX_REASON_CHARS)]


class BadValue(Exception):
    """The page sent an impossible value; the message is the reason why its episode ends."""


class PageMessage(JsonObject, frozen=True):
    """One message of the watcher: what is new in episode ``episode`` of the page; None where nothing is new.

    ``at`` is the page's clock in UNIX seconds, ``values`` has one number for each of the manifest's rewards.
    """

    episode: Count
    at: Time
    ready: Flag | None = False
    picture: Picture | None = None
    values: Annotated[tuple[kinds.Number, ...], Meta(description="list of numbers")] | None = None
    text: Annotated[str, _text(MAX_CHARS)] | None = None
    observation: kinds.Json | None = None
    done: _Reason | None = None
    truncated: _Reason | None = None
    fault: Annotated[str, _text(2 * MAX_REASON_CHARS)] | None = None

    def __post_init__(self) -> None:
        kinds.expect_on_screen(self, self.picture)
        # JavaScript strings may contain half a surrogate pair, which UTF-8 can't encode.
        for key in ("text", "done", "truncated", "fault"):
            if text := getattr(self, key):
                force_setattr(self, key, text.encode(errors="replace").decode())


def read(payload: str, rewards: int) -> PageMessage:
    try:
        document = parse_object(payload, max_depth=MAX_REPORT_DEPTH)
        _check_values(document.get("values"), rewards)
        said = kinds.read(PageMessage, document)
        size = 0 if said.observation is None else len(dump({"observation": said.observation}))
    except ValueError as error:
        raise BadValue(f"invalid message from the page: {error}") from None
    if size > MAX_REPORT_BYTES - _REPORT_MARGIN:
        raise BadValue(f"page: observation is {size} bytes of JSON, over {MAX_REPORT_BYTES - _REPORT_MARGIN}")
    return said


def _check_values(values: Any, rewards: int) -> None:
    """Check the rewards' values; of a wrong one the manifest's key is named."""
    if values is None:
        return
    if not isinstance(values, list) or len(cast("list[Any]", values)) != rewards:
        raise BadValue(f"page: expected {rewards} reward values, got {values!r:.80}")
    for index, value in enumerate(cast("list[Any]", values)):
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise BadValue(f"page: rewards[{index}].value is {value!s:.80}, expected a number")
        if abs(value) > MAX_VALUE:
            raise BadValue(f"page: rewards[{index}].value is {value:g}, expected at most {MAX_VALUE:g}")


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

    def submitted(self, episode: int, at: float) -> reports.Done:
        """Return the end of an episode whose agent said at ``at`` that it is done."""
        return reports.Done(episode, self._sum("end", self._values), reason=reports.SUBMITTED, at=at)

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
