"""Hypothesis strategies for everything that the two conversations carry."""

import math
import typing
from collections.abc import Iterable
from typing import Any, Final

from hypothesis import strategies as st
from msgspec.structs import fields
from pluriverse_protocol import Headers, kinds, messages, reports
from pluriverse_protocol.env_options import Option, OptionsOfEnv, OptionValues, Value
from pluriverse_protocol.env_spaces import Choice, Spaces, SpacesOfEnv
from pluriverse_protocol.events import Event, JoystickEvent, KeyEvent, PointerEvent, RelativePointerEvent, SubmitEvent
from pluriverse_protocol.limits import (
    MAX_CHOICE_NAME_CHARS,
    MAX_COORDINATE,
    MAX_ENV_ID_CHARS,
    MAX_EPISODE_ID,
    MAX_FPS,
    MAX_KEYS_OF_CHOICE,
    MAX_KEYSYM,
    MAX_MESSAGE_ID_CHARS,
    MAX_MOTION,
    MAX_OPTION_INTEGER,
    MAX_OPTION_NAME_CHARS,
    MAX_SEED,
    MAX_STEP_FRAMES,
    MAX_TIME_S,
    MIN_FPS,
)
from pluriverse_protocol.rfb.limits import MAX_SIDE
from pluriverse_protocol.tree import Node, Nodes

# Exactly what NumPy's and C's doubles have below infinity.
MAX_FLOAT: Final = math.nextafter(math.inf, 0)

numbers = st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(max_size=40)
env_ids = st.text(min_size=1, max_size=MAX_ENV_ID_CHARS)
fps = st.floats(min_value=MIN_FPS, max_value=MAX_FPS)
counts = st.integers(0, 2**63 - 1)
message_ids = st.integers(-(2**63) + 1, 2**63 - 1) | st.text(max_size=MAX_MESSAGE_ID_CHARS)

# What Python has for JSON: finite numbers, and no tuples, which would come back as lists.
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
json_objects: st.SearchStrategy[dict[str, Any]] = st.dictionaries(texts, json_values, max_size=4)

key_events = st.builds(KeyEvent, st.integers(0, MAX_KEYSYM), st.booleans())
coordinates = st.integers(0, MAX_COORDINATE)
pointer_events = st.builds(PointerEvent, coordinates, coordinates, st.integers(0, 255))
joystick_names = st.from_regex(r"\AJoystick[A-Za-z0-9]{1,32}Event\Z")
motions = st.integers(-MAX_MOTION, MAX_MOTION)
relative_pointer_events = st.builds(RelativePointerEvent, motions, motions, st.integers(0, 511))
joystick_events = st.builds(JoystickEvent, joystick_names, numbers)
submit_events = st.just(SubmitEvent())
events: st.SearchStrategy[Event] = st.one_of(
    key_events, pointer_events, relative_pointer_events, joystick_events, submit_events
)


sides = st.integers(1, MAX_COORDINATE)
boxes = st.tuples(coordinates, coordinates, sides, sides)
times = st.floats(-MAX_TIME_S, MAX_TIME_S)
pictures = st.tuples(*[st.integers(0, MAX_SIDE // 4)] * 2, *[st.integers(1, MAX_SIDE // 4)] * 2)
frames = st.tuples(sides, sides, st.sampled_from([1, 3]))

keysyms = st.integers(1, MAX_KEYSYM)
choices = st.builds(
    Choice,
    name=st.text(min_size=1, max_size=MAX_CHOICE_NAME_CHARS),
    keys=st.lists(keysyms, max_size=MAX_KEYS_OF_CHOICE, unique=True).map(tuple),
)


@st.composite
def all_spaces(draw: st.DrawFn) -> Spaces:
    """Any that are valid: with keys beside those of the choices, or without any of their own."""
    discrete = tuple(draw(st.lists(choices, max_size=6, unique_by=lambda choice: choice.name)))
    more = draw(st.none() | st.lists(keysyms, max_size=6))
    used = [key for choice in discrete for key in choice.keys]
    return Spaces(
        discrete=discrete,
        tap=draw(st.booleans()),
        keys=() if more is None else tuple(dict.fromkeys([*more, *used])),
        pointer=draw(st.booleans()),
        text=draw(st.booleans()),
        observation=draw(st.none() | st.lists(st.integers(1, 16), min_size=1, max_size=4).map(tuple)),
    )


option_integers = st.integers(-MAX_OPTION_INTEGER, MAX_OPTION_INTEGER)
option_names = st.text(min_size=1, max_size=MAX_OPTION_NAME_CHARS)
option_values: st.SearchStrategy[dict[str, Value]] = st.dictionaries(
    option_names, st.booleans() | option_integers | numbers | texts, max_size=4
)
all_options: st.SearchStrategy[dict[str, Option]] = st.dictionaries(
    option_names,
    st.one_of(
        st.builds(Option, st.just("boolean"), st.booleans()),
        st.lists(texts, min_size=1).map(lambda choices: Option("string", choices[0], choices=tuple(choices))),
        st.builds(Option, st.just("integer"), option_integers, minimum=st.none() | st.just(-float(MAX_OPTION_INTEGER))),
        st.builds(Option, st.just("number"), numbers, description=st.none() | texts),
    ),
    max_size=4,
)

labels = st.text(max_size=16)


@st.composite
def trees(draw: st.DrawFn) -> tuple[Node, ...]:
    """Any that are valid: parents come before what is in them."""
    return tuple(
        Node(
            draw(labels),
            draw(boxes),
            draw(labels),
            draw(st.none() | labels),
            draw(st.none() | st.integers(0, index - 1)) if index else None,
        )
        for index in range(draw(st.integers(0, 6)))
    )


# What there is of each kind.
_VALUES: Final[dict[Any, st.SearchStrategy[Any]]] = {
    kinds.Number: numbers,
    kinds.Fps: fps,
    kinds.Time: times,
    kinds.Side: st.integers(0, MAX_SIDE),
    kinds.Picture: pictures,
    kinds.Flag: st.booleans(),
    kinds.String: texts,
    kinds.EnvId: env_ids,
    kinds.EnvState: st.sampled_from(["resetting", "running"]),
    kinds.Seed: st.integers(0, MAX_SEED),
    kinds.Count: counts,
    kinds.Handles: st.lists(counts, max_size=3).map(tuple),
    kinds.SlotNumbers: st.lists(counts, max_size=3).map(tuple),
    kinds.MessageIdentifier: message_ids,
    kinds.EpisodeId: st.integers(0, MAX_EPISODE_ID),
    kinds.Object: json_objects,
    kinds.Names: st.lists(texts, max_size=3).map(tuple),
    kinds.Events: st.lists(events, max_size=8).map(tuple),
    kinds.Box: boxes,
    kinds.Clock: st.sampled_from(kinds.CLOCKS),
    kinds.StepFrames: st.integers(1, MAX_STEP_FRAMES),
    kinds.PictureShape: frames,
    kinds.Rows: st.lists(st.integers(0, MAX_COORDINATE), max_size=4).map(tuple),
    kinds.Json: json_values,
    SpacesOfEnv: all_spaces(),
    OptionsOfEnv: all_options,
    OptionValues: option_values,
    Nodes: trees(),
}


def _made(message: type[Any]) -> st.SearchStrategy[Any]:
    """Messages of a class, each field of its kind."""
    return st.builds(message, **{field.name: _of_kind(field.type) for field in fields(message)})


def _of_kind(kind: Any) -> st.SearchStrategy[Any]:
    if typing.get_origin(kind) is typing.Annotated:
        return next(values for each, values in _VALUES.items() if each == kind)
    inner, _ = typing.get_args(kind)
    return st.none() | _of_kind(inner)


def _any_of(classes: Iterable[type[Any]]) -> st.SearchStrategy[Any]:
    return st.one_of(*map(_made, classes))


headers: st.SearchStrategy[Headers] = _made(Headers)
server_messages: st.SearchStrategy[messages.ServerMessage] = _any_of(messages.SERVER_METHODS.values())
agent_messages: st.SearchStrategy[messages.AgentMessage] = _any_of(messages.AGENT_METHODS.values())
program_reports: st.SearchStrategy[reports.Report] = _any_of(reports.REPORTS.values())
program_requests: st.SearchStrategy[reports.Request] = _any_of(reports.REQUESTS.values())
