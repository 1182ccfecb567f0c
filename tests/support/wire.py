"""Hypothesis strategies for everything that the two conversations carry."""

from __future__ import annotations

import math
from typing import Any, Final

from hypothesis import strategies as st
from pluriverse_protocol import Headers, kinds, messages, reports
from pluriverse_protocol.env_options import Option, Value
from pluriverse_protocol.env_spaces import Choice, Spaces
from pluriverse_protocol.events import Event, JoystickEvent, KeyEvent, PointerEvent
from pluriverse_protocol.limits import (
    MAX_CHOICE_NAME_CHARS,
    MAX_COORDINATE,
    MAX_ENV_ID_CHARS,
    MAX_EPISODE_ID,
    MAX_FPS,
    MAX_KEYS_OF_CHOICE,
    MAX_KEYSYM,
    MAX_MESSAGE_ID_CHARS,
    MAX_OPTION_INTEGER,
    MAX_OPTION_NAME_CHARS,
    MAX_SEED,
    MAX_STEP_FRAMES,
    MAX_TIME_S,
    MIN_FPS,
)
from pluriverse_protocol.rfb.limits import MAX_SIDE
from pluriverse_protocol.tree import Node

# Exactly what NumPy's and C's doubles have below infinity.
MAX_FLOAT: Final = math.nextafter(math.inf, 0)

numbers = st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(max_size=40)
env_ids = st.text(min_size=1, max_size=MAX_ENV_ID_CHARS)
fps = st.floats(min_value=MIN_FPS, max_value=MAX_FPS)
seeds = st.integers(0, MAX_SEED)
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
joystick_events = st.builds(JoystickEvent, joystick_names, numbers)
events: st.SearchStrategy[Event] = st.one_of(key_events, pointer_events, joystick_events)


sides = st.integers(1, MAX_COORDINATE)
boxes = st.tuples(coordinates, coordinates, sides, sides)
times = st.floats(-MAX_TIME_S, MAX_TIME_S)
pictures = st.tuples(*[st.integers(0, MAX_SIDE // 4)] * 2, *[st.integers(1, MAX_SIDE // 4)] * 2)
frames = st.tuples(sides, sides, st.sampled_from([1, 3]))
clocks = st.sampled_from(kinds.CLOCKS)

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


def _maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


headers = st.builds(
    Headers,
    message_id=message_ids,
    sent_at=times,
    episode_id=_maybe(st.integers(0, MAX_EPISODE_ID)),
    parent_message_id=_maybe(message_ids),
    parent_runtime=_maybe(times),
    received_at=_maybe(times),
    number=_maybe(counts),
    last_number=_maybe(counts),
)
server_messages: st.SearchStrategy[messages.ServerMessage] = st.one_of(
    st.builds(
        messages.Describe,
        env_id=env_ids,
        env_state=st.sampled_from(["resetting", "running"]),
        fps=fps,
        runtime=_maybe(texts),
        runtime_version=_maybe(texts),
        width=_maybe(st.integers(0, MAX_SIDE)),
        height=_maybe(st.integers(0, MAX_SIDE)),
        clock=_maybe(texts),
        clocks=_maybe(st.lists(texts, max_size=2).map(tuple)),
        frame_time=_maybe(times),
        lockstep=_maybe(texts),
        capabilities=_maybe(st.lists(texts, max_size=3).map(tuple)),
        metadata_encoding=_maybe(json_values),
        picture=_maybe(pictures),
        spaces=_maybe(all_spaces()),
        options=_maybe(all_options),
        info=_maybe(json_objects),
    ),
    st.builds(
        messages.Reward,
        reward=numbers,
        done=st.booleans(),
        info=json_objects,
        terminated=_maybe(st.booleans()),
        truncated=_maybe(st.booleans()),
        frame_at=_maybe(times),
    ),
    st.builds(messages.Text, texts),
    st.builds(messages.Observation, json_values),
    st.builds(messages.Close, texts),
    st.builds(messages.ErrorReply, texts),
    st.just(messages.ResetReply()),
    st.just(messages.PingReply()),
    st.builds(messages.FirstFrame, frame=frames, text=texts, observation=_maybe(json_values), info=json_objects),
    st.builds(
        messages.StepReply,
        n=counts,
        reward=numbers,
        done=st.booleans(),
        terminated=st.booleans(),
        truncated=st.booleans(),
        frame=frames,
        text=texts,
        observation=_maybe(json_values),
        info=json_objects,
    ),
    st.builds(messages.SnapshotReply, handle=_maybe(counts)),
    st.builds(messages.RestoreReply, frame=frames, text=texts, observation=_maybe(json_values), info=json_objects),
    st.builds(messages.TreeReply, nodes=trees(), left_out=counts),
)
agent_messages: st.SearchStrategy[messages.AgentMessage] = st.one_of(
    st.builds(
        messages.Reset,
        env_id=_maybe(env_ids),
        seed=_maybe(seeds),
        fps=_maybe(fps),
        options=_maybe(option_values),
        clock=_maybe(clocks),
    ),
    st.just(messages.Ping()),
    st.just(messages.Tree()),
    st.builds(messages.Action, action=st.lists(events, max_size=8).map(tuple), env_id=_maybe(env_ids)),
    st.builds(
        messages.AgentStep,
        n=counts,
        frames=st.integers(1, MAX_STEP_FRAMES),
        events=st.lists(events, max_size=8).map(tuple),
    ),
    st.builds(messages.AgentSnapshot, drop=st.lists(counts, max_size=3).map(tuple)),
    st.builds(messages.AgentRestore, handle=counts),
)
program_reports: st.SearchStrategy[reports.Report] = st.one_of(
    st.builds(
        reports.Ready,
        episode=counts,
        fps=_maybe(fps),
        joystick=st.booleans(),
        picture=_maybe(pictures),
        spaces=_maybe(all_spaces()),
        info=_maybe(json_objects),
    ),
    st.builds(reports.Reward, episode=counts, reward=numbers, at=_maybe(times)),
    st.builds(
        reports.Done,
        episode=counts,
        reward=numbers,
        terminated=st.booleans(),
        truncated=st.booleans(),
        reason=texts,
        at=_maybe(times),
    ),
    st.builds(reports.Text, episode=counts, text=texts),
    st.builds(reports.Observation, episode=counts, observation=json_values),
    st.builds(reports.Frame, episode=counts, frames=counts, late_frames=counts, at=_maybe(times)),
    st.builds(reports.TreeRead, episode=counts, number=counts, nodes=trees(), left_out=counts, error=texts),
)
program_requests: st.SearchStrategy[reports.Request] = st.one_of(
    st.builds(
        reports.Reset,
        episode=counts,
        env=texts,
        seed=seeds,
        fps=fps,
        options=option_values,
        clock=clocks,
        time_limit_s=_maybe(numbers),
    ),
    st.just(reports.Stop()),
    st.builds(reports.Joystick, event=texts, value=numbers),
    st.builds(reports.Delivered, episode=counts, sent_at=times),
    st.builds(reports.ReadTree, number=counts, picture=boxes),
)
