r"""The messages between a cooperating program and the daemon: JSON lines on the Unix socket ``PLURIVERSE_SOCKET``.

The program *reports* (``{"report": "reward", "episode": 3, "reward": 1.0}``), the daemon *requests*
(``{"request": "reset", "episode": 4, "env": "…", "seed": 7, "fps": 60.0}``). Each report names the episode that it
belongs to, so one that crosses a reset on its way is never counted for the wrong episode. Times are UNIX seconds.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeVar, get_args

from msgspec import Meta, field

from .env_options import OptionValues, Value
from .env_spaces import SpacesOfEnv
from .errors import LocalProtocolError, MalformedReport
from .kinds import (
    Box,
    Clock,
    Count,
    Flag,
    Fps,
    Json,
    JsonObject,
    Number,
    Object,
    Picture,
    Seed,
    SlotNumbers,
    String,
    Time,
    always,
    expect_on_screen,
    read,
    write,
)
from .limits import MAX_REPORT_BYTES
from .strict_json import MAX_DEPTH, dump, parse_object
from .tree import Nodes, expect_tree

# An observation stands one level deeper in the message to agents than in its report.
MAX_REPORT_DEPTH: Final = MAX_DEPTH - 1

# The ``reason`` of an episode that reached its time limit.
TIME_LIMIT: Final = "time limit"

# That of one which its agent has submitted.
SUBMITTED: Final = "submitted"

# By this option of tasks a reset asks for what their check looks at; the end's ``info`` has it by the same name.
EVIDENCE: Final = "evidence"

Cause = Annotated[
    Literal["page", "message", "process", "manifest"],
    Meta(description='"page", "message", "process" or "manifest"'),
]


class _Report(JsonObject, frozen=True, tag_field="report"):
    """A message of a program."""


class _Request(JsonObject, frozen=True, tag_field="request"):
    """A message of the daemon."""


class Ready(_Report, frozen=True, tag="ready"):
    """The episode's first frame is on the screen; it runs from now on, at ``fps`` frames a second if that is known.

    ``joystick`` asks for the agent's joystick events; without it agents get an error for them.
    ``picture`` is the part of the screen that this episode draws on, where that isn't all of it. ``spaces`` are the
    actions and observations of this episode, where options make them other than declared. ``info`` is sent to agents as
    that of rewards is, such as how many ``lives`` there are.
    """

    episode: Count
    fps: Fps | None = None
    joystick: Flag = always(False)
    picture: Picture | None = None
    spaces: SpacesOfEnv | None = None
    info: Object | None = None

    def __post_init__(self) -> None:
        expect_on_screen(self, self.picture)


class Reward(_Report, frozen=True, tag="reward"):
    """The program earned ``reward``; ``at`` is the clock when the frame that earned it was on the screen.

    ``info`` is sent to agents with it, such as how many ``lives`` are left; a reward of 0 is then sent at once as well.
    ``source`` is "reports" where a scraper passes on what its program has reported; recordings need it, agents don't.
    """

    episode: Count
    reward: Number
    at: Time | None = None
    info: Object = field(default_factory=dict[str, Any])
    source: String = always("")


class Done(_Report, frozen=True, tag="done"):
    """The episode is over, with what its last frame earned. An outcome is terminated, a limit truncated.

    ``source`` as of ``Reward``.
    """

    episode: Count
    reward: Number = always(0.0)
    terminated: Flag = always(True)
    truncated: Flag = always(False)
    reason: String = always("")
    at: Time | None = None
    info: Object = field(default_factory=dict[str, Any])
    source: String = always("")


class Text(_Report, frozen=True, tag="text"):
    """A text observation. The last one before ``ready`` is sent with the first frame."""

    episode: Count
    text: String


class Observation(_Report, frozen=True, tag="observation"):
    """A structured observation: any JSON. The last one before ``ready`` is sent with the first frame."""

    episode: Count
    observation: Json


class Frame(_Report, frozen=True, tag="frame"):
    """A frame was drawn; counts are since the episode began."""

    episode: Count
    frames: Count
    late_frames: Count = always(0)
    at: Time | None = None


class SlotFrames(_Report, frozen=True, tag="slot_frames"):
    """In lockstep: the slots beside the program's own environment played ``frames`` since the last such report."""

    episode: Count
    frames: Count


class Worlds(_Report, frozen=True, tag="worlds"):
    """In lockstep: the ``slots`` whose worlds can be shown on the remote's screen, and the one that is ``shown``."""

    episode: Count
    slots: SlotNumbers
    shown: Count


class Readings(_Report, frozen=True, tag="readings"):
    """The readings of a scraped program at ``at``, for people, metrics and recordings; not sent to agents.

    ``readings`` has an object for each source whose reading has changed: ``value`` that counts (or null), ``raw`` as it
    was read, ``confidence`` 0 to 1, ``state`` in a word, ``events`` since the last, ``lag_ms`` that reading it took.
    ``cycle_ms`` is how long all of them took together.
    """

    episode: Count
    readings: Object
    at: Time | None = None
    cycle_ms: Number = always(0.0)


class TreeRead(_Report, frozen=True, tag="tree"):
    """The tree of the screen, in answer to ``ReadTree`` with this ``number``; or why it can't be read, in ``error``."""

    episode: Count
    number: Count
    nodes: Nodes = always(())
    left_out: Count = always(0)
    error: String = always("")

    def __post_init__(self) -> None:
        expect_tree(self.nodes)


class Lost(_Report, frozen=True, tag="lost"):
    """The episode can't begin or continue, for ``reason``; the scraper continues with another.

    ``cause`` says what is to blame: the ``page``, a ``message`` of it that can't be read, a ``process`` that has ended
    or can't be started, or the ``manifest``, so that no episode can ever begin.
    """

    episode: Count
    reason: String
    cause: Cause = always("page")


class Reset(_Request, frozen=True, tag="reset"):
    """Begin an episode. The program answers with ``Ready`` once its first frame is on the screen.

    ``options`` has a value for each option that the environment declares. ``clock`` None: real time. In lockstep
    the program truncates the episode itself after ``time_limit_s`` seconds of its own time, and lets the agent press
    only what ``spaces`` name, where these are declared.
    """

    episode: Count
    env: String
    seed: Seed
    fps: Fps
    options: OptionValues = field(default_factory=dict[str, Value])
    clock: Clock | None = None
    time_limit_s: Number | None = None
    spaces: SpacesOfEnv | None = None


class Stop(_Request, frozen=True, tag="stop"):
    """Exit."""


class Joystick(_Request, frozen=True, tag="joystick"):
    """One joystick event of the agent: a name as ``JoystickAxisXEvent``, and its value."""

    event: String
    value: Number


class Submit(_Request, frozen=True, tag="submit"):
    """The agent says that it is done: end the episode, with what is earned by then."""

    episode: Count


class Delivered(_Request, frozen=True, tag="delivered"):
    """The reward message of a step of a Sync environment was sent at ``sent_at``: paint a later clock soon."""

    episode: Count
    sent_at: Time


class Watched(_Request, frozen=True, tag="watched"):
    """Whether anybody looks at the screen: in lockstep nothing else does, and drawing may cost more than a step."""

    watched: Flag


class ReadTree(_Request, frozen=True, tag="read_tree"):
    """Read the tree of ``picture``, a part of the screen, from the program's widgets. Sent to scrapers only."""

    number: Count
    picture: Box


class ShowWorld(_Request, frozen=True, tag="show_world"):
    """Show the world of a slot on the remote's screen, and let people act in it. Sent to scrapers only."""

    world: Count


Report = Ready | Reward | Done | Text | Observation | Frame | SlotFrames | Worlds | Readings | TreeRead | Lost
Request = Reset | Stop | Joystick | Submit | Delivered | Watched | ReadTree | ShowWorld

REPORTS: Final[dict[str, type[Report]]] = {str(kind.__struct_config__.tag): kind for kind in get_args(Report)}
REQUESTS: Final[dict[str, type[Request]]] = {str(kind.__struct_config__.tag): kind for kind in get_args(Request)}

_M = TypeVar("_M", bound=Report | Request)


def encode_line(message: Report | Request) -> bytes:
    """Return the message as one line of JSON, with its newline."""
    return encode_object(message)[1].encode() + b"\n"


def encode_object(message: Report | Request) -> tuple[dict[str, Any], str]:
    """Return the message as a JSON object, and as its text."""
    name = message.__struct_config__.tag
    try:
        values = write(message)
        text = dump(values)
    except ValueError as error:
        raise LocalProtocolError(f"{name} can't be sent: {error}") from error
    if len(text) >= MAX_REPORT_BYTES:
        raise LocalProtocolError(f"{name} is {len(text) + 1} bytes long, over {MAX_REPORT_BYTES}")
    return values, text


def decode_report(line: bytes) -> Report:
    """Return the report that a line of the program stands for."""
    return _decode(line, "report", REPORTS)


def decode_request(line: bytes) -> Request:
    """Return the request that a line of the daemon stands for."""
    return _decode(line, "request", REQUESTS)


def _decode(line: bytes, key: str, table: dict[str, type[_M]]) -> _M:
    if len(line) > MAX_REPORT_BYTES:
        raise MalformedReport(f"a line of {len(line)} bytes, over {MAX_REPORT_BYTES}")
    try:
        values = parse_object(line, max_depth=MAX_REPORT_DEPTH)
    except ValueError as error:
        raise MalformedReport(str(error)) from None
    name = values.get(key)
    if not isinstance(name, str) or name not in table:
        raise MalformedReport(f"{key!r} is {name!r:.80}, expected one of {', '.join(table)}")
    try:
        return read(table[name], values)
    except ValueError as error:
        raise MalformedReport(f"{name}: {error}") from None
