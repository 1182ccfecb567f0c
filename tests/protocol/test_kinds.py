from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from pluriverse_protocol import kinds
from pluriverse_protocol.kinds import fields_of, from_json, to_json
from pluriverse_protocol.limits import (
    MAX_CHOICE_NAME_CHARS,
    MAX_COORDINATE,
    MAX_ENV_ID_CHARS,
    MAX_EPISODE_ID,
    MAX_EVENTS_PER_ACTION,
    MAX_FPS,
    MAX_KEYS,
    MAX_KEYS_OF_CHOICE,
    MAX_KEYSYM,
    MAX_MESSAGE_ID_CHARS,
    MAX_OBSERVATION_NUMBERS,
    MAX_SEED,
    MAX_STEP_FRAMES,
    MAX_TIME_S,
    MIN_FPS,
)
from pluriverse_protocol.rfb.limits import MAX_SIDE
from support.wire import MAX_FLOAT, json_values


@dataclass(frozen=True)
class Everything:
    """A field of each kind, none of them required."""

    number: kinds.Number | None = None
    fps: kinds.Fps | None = None
    time: kinds.Time | None = None
    side: kinds.Side | None = None
    picture: kinds.Picture | None = None
    flag: kinds.Flag | None = None
    string: kinds.String | None = None
    env_id: kinds.EnvId | None = None
    env_state: kinds.EnvState | None = None
    seed: kinds.Seed | None = None
    count: kinds.Count | None = None
    message_id: kinds.MessageIdentifier | None = None
    episode_id: kinds.EpisodeId | None = None
    an_object: kinds.Object | None = None
    names: kinds.Names | None = None
    events: kinds.Events | None = None
    box: kinds.Box | None = None
    choice_name: kinds.ChoiceName | None = None
    keys: kinds.Keys | None = None
    keys_of_choice: kinds.KeysOfChoice | None = None
    shape: kinds.Shape | None = None
    clock: kinds.Clock | None = None
    step_frames: kinds.StepFrames | None = None
    picture_shape: kinds.PictureShape | None = None
    anything: kinds.Json | None = None


@dataclass(frozen=True)
class Mixed:
    """A required field, one with a default, and one that may be null."""

    needed: kinds.Number
    absent: kinds.Object = field(default_factory=dict[str, Any])
    defaulted: kinds.Number = 2.0
    nullable: kinds.Number | None = None


ACCEPTED: list[tuple[str, Any, Any]] = [
    ("number", 1, 1.0),
    ("number", -1.5, -1.5),
    ("number", MAX_FLOAT, MAX_FLOAT),
    ("fps", MAX_FPS, MAX_FPS),
    ("fps", MIN_FPS, MIN_FPS),
    ("fps", 60, 60.0),
    ("time", 1480546560.263108, 1480546560.263108),
    ("time", -MAX_TIME_S, -MAX_TIME_S),
    ("side", MAX_SIDE, MAX_SIDE),
    ("picture", [0, 0, 3840, 2160], (0, 0, 3840, 2160)),
    ("flag", True, True),
    ("string", "", ""),
    ("env_id", "x" * MAX_ENV_ID_CHARS, "x" * MAX_ENV_ID_CHARS),
    ("env_state", "running", "running"),
    ("seed", 0, 0),
    ("seed", MAX_SEED, MAX_SEED),
    ("count", 0, 0),
    ("count", 2**63 - 1, 2**63 - 1),
    ("message_id", 0, 0),
    ("message_id", -(2**63) + 1, -(2**63) + 1),
    ("message_id", "", ""),
    ("message_id", "0", "0"),
    ("message_id", "x" * MAX_MESSAGE_ID_CHARS, "x" * MAX_MESSAGE_ID_CHARS),
    ("episode_id", "0", 0),
    ("episode_id", 7, 7),
    ("episode_id", "007", 7),
    ("episode_id", str(MAX_EPISODE_ID), MAX_EPISODE_ID),
    ("episode_id", MAX_EPISODE_ID, MAX_EPISODE_ID),
    ("an_object", {"a": [1]}, {"a": [1]}),
    ("names", ["a", ""], ("a", "")),
    ("events", [], ()),
    ("box", [0, MAX_COORDINATE, 1, MAX_COORDINATE], (0, MAX_COORDINATE, 1, MAX_COORDINATE)),
    ("choice_name", "x" * MAX_CHOICE_NAME_CHARS, "x" * MAX_CHOICE_NAME_CHARS),
    ("keys", [], ()),
    ("keys", list(range(1, MAX_KEYS + 1)), tuple(range(1, MAX_KEYS + 1))),
    ("keys", (MAX_KEYSYM,), (MAX_KEYSYM,)),
    ("keys_of_choice", list(range(1, MAX_KEYS_OF_CHOICE + 1)), tuple(range(1, MAX_KEYS_OF_CHOICE + 1))),
    ("shape", [MAX_OBSERVATION_NUMBERS], (MAX_OBSERVATION_NUMBERS,)),
    ("shape", [16, 16, 16, 16], (16, 16, 16, 16)),
    ("clock", "realtime", "realtime"),
    ("clock", "lockstep", "lockstep"),
    ("step_frames", 1, 1),
    ("step_frames", MAX_STEP_FRAMES, MAX_STEP_FRAMES),
    ("picture_shape", [1, MAX_COORDINATE, 1], (1, MAX_COORDINATE, 1)),
    ("picture_shape", [210, 160, 3], (210, 160, 3)),
    ("anything", [None, {"a": 1}], [None, {"a": 1}]),
]

WRONG: dict[str, tuple[Any, ...]] = {
    "number": (True, "1", [], {}, math.nan, math.inf, -math.inf, 10**400, -(10**400)),
    "time": (-2e11, 1.7e308, 10**300, math.nan, True, "1"),
    "side": (-1, MAX_SIDE + 1, 2**63, True, 1.0),
    "picture": ([0, 0, 0, 1], [0, 0, MAX_SIDE, MAX_SIDE], [MAX_SIDE, 0, 1, 1], [0, 0, 1e300, 1]),
    "fps": (1e-300, 0, -1, 0.0, MAX_FPS + 0.1, True, "60", math.nan, math.inf, 10**400),
    "flag": (0, 1, "true", 1.0, []),
    "string": (1, True, [], {}, b"bytes"),
    "env_id": ("", "x" * (MAX_ENV_ID_CHARS + 1), 1, ["a"]),
    "env_state": ("", "idle", "Running", 1, ["running"], {"running": 1}),
    "seed": (-1, MAX_SEED + 1, True, 1.0, "1", 10**400),
    "count": (-1, 2**63, True, 1.0, "1"),
    "message_id": (True, 1.0, 2**63, -(2**63), "x" * (MAX_MESSAGE_ID_CHARS + 1), [], {}),
    "episode_id": (
        *(-1, MAX_EPISODE_ID + 1, 10**400, 1.0, True, []),
        *("-1", "", " 1", "1.", "1_0", "\u0661", "0x1", str(MAX_EPISODE_ID + 1), "1" * 5000),
    ),
    "an_object": ([], "a", 1),
    "names": ("ab", [1], {"a": 1}, [None]),
    "box": (
        [],
        [1, 2, 3],
        [0, 0, 0, 1],
        [0, 0, 1, 0],
        [-1, 0, 1, 1],
        [0, 0, 1, MAX_COORDINATE + 1],
        [0, 0, 1.0, 1],
        "abcd",
    ),
    "events": ("ab", {"a": 1}, [1], [["KeyEvent"]]),
    "choice_name": ("", "x" * (MAX_CHOICE_NAME_CHARS + 1), 1, ["a"]),
    "keys": ([0], [MAX_KEYSYM + 1], [True], [1.0], ["Left"], [1, 1], list(range(1, MAX_KEYS + 2)), {"a": 1}, "ab", 1),
    "keys_of_choice": ([0], [1, 1], list(range(1, MAX_KEYS_OF_CHOICE + 2)), "ab"),
    "clock": ("", "lockstp", "Realtime", 1, True, ["lockstep"]),
    "step_frames": (0, -1, MAX_STEP_FRAMES + 1, 10**9, 10**400, 1.0, True, "1"),
    "picture_shape": (
        [],
        [1, 1],
        [0, 1, 3],
        [1, 0, 3],
        [1, 1, 2],
        [1, 1, 4],
        [1, MAX_COORDINATE + 1, 3],
        [1.0, 1, 3],
        "113",
    ),
    "shape": ([], [0], [-1], [1.0], [True], [1] * 5, [2, MAX_OBSERVATION_NUMBERS], [257, 256], 4, "ab"),
}
REFUSED: list[tuple[str, Any]] = [(key, value) for key, values in WRONG.items() for value in values]


@pytest.mark.parametrize(("key", "value", "expected"), ACCEPTED)
def test_a_value_that_fits_is_read_with_its_type(key: str, value: Any, expected: Any) -> None:
    read = getattr(from_json(Everything, {key: value}), key)
    assert read == expected
    assert type(read) is type(expected)


@pytest.mark.parametrize(("key", "value"), REFUSED)
def test_a_value_that_does_not_fit_is_refused_with_its_key_and_what_was_expected(key: str, value: Any) -> None:
    kind = next(described.kind.name for described in fields_of(Everything) if described.key == key)
    with pytest.raises(ValueError, match=r".") as refused:
        from_json(Everything, {key: value})
    assert f"'{key}' is " in str(refused.value)
    assert kind in str(refused.value)
    assert len(str(refused.value)) < 400


@given(json_values)
def test_any_json_in_any_field_is_read_or_a_value_error_and_what_is_read_can_be_written(value: Any) -> None:
    for described in fields_of(Everything):
        try:
            message = from_json(Everything, {described.key: value})
        except ValueError:
            continue
        assert from_json(Everything, to_json(message)) == message


def test_number_of_events_is_limited_at_exactly_the_limit() -> None:
    event = ["KeyEvent", 1, True]
    assert len(from_json(Everything, {"events": [event] * MAX_EVENTS_PER_ACTION}).events or ()) == MAX_EVENTS_PER_ACTION
    with pytest.raises(ValueError, match=f"{MAX_EVENTS_PER_ACTION + 1} events, over {MAX_EVENTS_PER_ACTION}"):
        from_json(Everything, {"events": [event] * (MAX_EVENTS_PER_ACTION + 1)})


def test_keys_that_are_not_known_are_passed_over() -> None:
    assert from_json(Mixed, {"needed": 1, "unknown": object()}) == Mixed(1.0)


def test_a_required_key_must_be_there() -> None:
    with pytest.raises(ValueError, match="'needed' is missing, expected number"):
        from_json(Mixed, {})


def test_null_is_for_fields_that_say_so() -> None:
    assert from_json(Mixed, {"needed": 1, "nullable": None}).nullable is None
    for key in ("needed", "absent", "defaulted"):
        with pytest.raises(ValueError, match=f"'{key}' is None"):
            from_json(Mixed, {"needed": 1, key: None})


def test_fields_that_are_none_are_left_out_when_written() -> None:
    assert to_json(Mixed(1.0)) == {"needed": 1.0, "absent": {}, "defaulted": 2.0}


def test_writing_checks_as_reading_does() -> None:
    with pytest.raises(ValueError, match="'needed' is nan"):
        to_json(Mixed(math.nan))
    with pytest.raises(ValueError, match="'needed' is None"):
        to_json(Mixed(None))  # pyright: ignore[reportArgumentType]


def test_fields_tell_what_the_documentation_says_of_them() -> None:
    described = {item.key: (item.required, item.optional) for item in fields_of(Mixed)}
    assert described == {
        "needed": (True, False),
        "absent": (False, False),
        "defaulted": (False, False),
        "nullable": (False, True),
    }
