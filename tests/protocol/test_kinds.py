import math
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import defstruct, field
from msgspec.structs import FieldInfo, fields
from pluriverse_protocol import kinds
from pluriverse_protocol.kinds import JsonObject, always, describe, read, write
from pluriverse_protocol.limits import (
    MAX_CHOICE_NAME_CHARS,
    MAX_COORDINATE,
    MAX_ENV_ID_CHARS,
    MAX_EPISODE_ID,
    MAX_FPS,
    MAX_KEYS,
    MAX_KEYS_OF_CHOICE,
    MAX_KEYSYM,
    MAX_MESSAGE_ID_CHARS,
    MAX_OBSERVATION_NUMBERS,
    MAX_SEED,
    MAX_SNAPSHOT_NAME_CHARS,
    MAX_SNAPSHOTS,
    MAX_STEP_FRAMES,
    MAX_TIME_S,
    MIN_FPS,
)
from pluriverse_protocol.rfb.limits import MAX_SIDE
from support.wire import MAX_FLOAT, json_values


class Mixed(JsonObject, frozen=True):
    """A required field, one with a default, and one that may be null."""

    needed: kinds.Number
    absent: kinds.Object = field(default_factory=dict[str, Any])
    defaulted: kinds.Number = always(2.0)
    nullable: kinds.Number | None = None


Values = st.SearchStrategy[Any]
of = st.sampled_from

OF_TYPE: dict[type[Any], Values] = {
    bool: st.booleans(),
    int: st.integers(),
    float: st.floats(),
    str: st.text(max_size=9) | st.binary(),
    list: st.lists(st.none() | st.floats(), min_size=1, max_size=9),
    dict: st.dictionaries(st.text(max_size=3), st.integers(), max_size=3),
}
UNREADABLE = of([math.nan, math.inf, -math.inf, 10**400, -(10**400)])


def no(*taken: type[Any]) -> Values:
    """Values of any type but these."""
    return st.one_of(*(values for kind, values in OF_TYPE.items() if kind not in taken))


def no_integer(low: int, high: int) -> Values:
    """All but integers of ``low`` to ``high``."""
    outside = of([low - 1, high + 1, 10**400]) | st.integers(max_value=low - 1) | st.integers(min_value=high + 1)
    return no(int) | outside


def no_text(longest: int, *others: str) -> Values:
    return no(str) | of(["x" * (longest + 1), *others])


def no_list(item: Values, right: int = 1, size: int = 3) -> Values:
    """All but lists, and a list of ``size`` items of which one doesn't fit."""
    return no(list) | st.tuples(st.integers(0, size - 1), item).map(
        lambda drawn: [drawn[1] if place == drawn[0] else right for place in range(size)]
    )


no_keysym = no_integer(1, MAX_KEYSYM)

# Of each kind what just fits, and what does not.
EDGES: dict[str, tuple[Any, list[Any], Values]] = {
    "number": (kinds.Number, [1, -1.5, MAX_FLOAT], no(int, float) | UNREADABLE),
    "fps": (kinds.Fps, [60, MIN_FPS, MAX_FPS], no(int, float) | UNREADABLE | of([1e-300, 0, -1, MAX_FPS + 0.1])),
    "time": (kinds.Time, [1480546560.263108, -MAX_TIME_S], no(int, float) | UNREADABLE | of([-2e11, 1.7e308, 10**300])),
    "side": (kinds.Side, [0, MAX_SIDE], no_integer(0, MAX_SIDE)),
    "picture": (
        kinds.Picture,
        [[0, 0, 3840, 2160]],
        no_list(no(int), size=4)
        | of([[0, 0, 0, 1], [0, 0, MAX_SIDE, MAX_SIDE], [MAX_SIDE, 0, 1, 1], [0, 0, 1e300, 1]]),
    ),
    "flag": (kinds.Flag, [True], no(bool)),
    "string": (kinds.String, [""], no(str)),
    "env_id": (kinds.EnvId, ["x" * MAX_ENV_ID_CHARS], no_text(MAX_ENV_ID_CHARS, "")),
    "env_state": (kinds.EnvState, ["running"], no() | of(["idle", "Running", ["running"]])),
    "seed": (kinds.Seed, [0, MAX_SEED], no_integer(0, MAX_SEED)),
    "count": (kinds.Count, [0, 2**63 - 1], no_integer(0, 2**63 - 1)),
    "handles": (
        kinds.Handles,
        [[0, 2**63 - 1] * (MAX_SNAPSHOTS // 2), ["x" * MAX_SNAPSHOT_NAME_CHARS]],
        no_list(no(int, str) | of([-1, 2**63, "", "x" * (MAX_SNAPSHOT_NAME_CHARS + 1)]))
        | of([[0] * (MAX_SNAPSHOTS + 1)]),
    ),
    "message_id": (
        kinds.MessageIdentifier,
        [0, -(2**63) + 1, "", "0", "x" * MAX_MESSAGE_ID_CHARS],
        no(int, str) | of([2**63, -(2**63), "x" * (MAX_MESSAGE_ID_CHARS + 1)]),
    ),
    "episode_id": (
        kinds.EpisodeId,
        [0, MAX_EPISODE_ID],
        no(int, str) | of([-1, MAX_EPISODE_ID + 1, "-1", "", " 1", "1.", "1_0", "\u0661", "0x1", "9" * 5000]),
    ),
    "an_object": (kinds.Object, [{"a": [1]}], no(dict)),
    "names": (kinds.Names, [["a", ""]], no(list) | of([[1], [None]])),
    "events": (kinds.Events, [[]], no(list) | of([[1], [["KeyEvent"]]])),
    "box": (
        kinds.Box,
        [[0, MAX_COORDINATE, 1, MAX_COORDINATE]],
        no_list(no_integer(0, MAX_COORDINATE), size=4) | of([[], [1, 2, 3], [0, 0, 0, 1], [0, 0, 1, 0], [1] * 5]),
    ),
    "choice_name": (kinds.ChoiceName, ["x" * MAX_CHOICE_NAME_CHARS], no_text(MAX_CHOICE_NAME_CHARS, "")),
    "keys": (kinds.Keys, [[], [*range(1, MAX_KEYS + 1)]], no_list(no_keysym) | of([[*range(1, MAX_KEYS + 2)]])),
    "key": (kinds.Key, [1, MAX_KEYSYM], no_keysym),
    "keys_of_choice": (
        kinds.KeysOfChoice,
        [[*range(1, MAX_KEYS_OF_CHOICE + 1)]],
        no_list(no_keysym) | of([[*range(1, MAX_KEYS_OF_CHOICE + 2)]]),
    ),
    "shape": (
        kinds.Shape,
        [[MAX_OBSERVATION_NUMBERS], [16, 16, 16, 16]],
        no_list(no(int) | of([0])) | of([[], [1] * 5]),
    ),
    "clock": (kinds.Clock, [*kinds.CLOCKS], no() | of(["lockstp", "Realtime", ["lockstep"]])),
    "step_frames": (kinds.StepFrames, [1, MAX_STEP_FRAMES], no_integer(1, MAX_STEP_FRAMES)),
    "picture_shape": (
        kinds.PictureShape,
        [[1, MAX_COORDINATE, 1], [210, 160, 3]],
        no_list(no_integer(1, MAX_COORDINATE)) | of([[], [1, 1], [1, 1, 2], [1, 1, 4], [1] * 4]),
    ),
    "rows": (kinds.Rows, [[], [0, 1, MAX_COORDINATE, 1]], no_list(no_integer(0, MAX_COORDINATE))),
    "anything": (kinds.Json, [[None, {"a": 1}]], st.nothing()),
}


def expect_on_screen(message: Any) -> None:
    kinds.expect_on_screen(message, message.picture)


Everything = cast(
    "type[JsonObject]",
    defstruct(
        "Everything",
        [(name, kind | None, None) for name, (kind, _, _) in EDGES.items()],
        bases=(JsonObject,),
        namespace={"__post_init__": expect_on_screen},
        frozen=True,
    ),
)
"""A field of each kind, none of them required."""


@pytest.mark.parametrize("described", fields(Everything), ids=lambda described: described.name)
def test_what_just_fits_is_read_and_all_else_refused_with_its_key_and_what_was_expected(described: FieldInfo) -> None:
    key = described.name
    _, fits, wrong = EDGES[key]
    for value in fits:
        message = read(Everything, {key: value})
        assert getattr(message, key) == (tuple(value) if "tuple" in str(described.type) else value)
        assert isinstance(getattr(message, key), float) is (key in {"number", "fps", "time"})

    @given(wrong)
    def is_refused(value: Any) -> None:
        with pytest.raises(ValueError, match=r".") as refused:
            read(Everything, {key: value})
        assert f"'{key}' is " in str(refused.value)
        assert describe(described.type) in str(refused.value)
        assert len(str(refused.value)) < 400

    if not wrong.is_empty:
        is_refused()


@given(json_values)
def test_any_json_in_any_field_is_read_or_a_value_error_and_what_is_read_can_be_written(value: Any) -> None:
    for described in fields(Everything):
        try:
            message = read(Everything, {described.name: value})
        except ValueError:
            continue
        assert read(Everything, write(message)) == message


def test_a_required_key_must_be_there() -> None:
    with pytest.raises(ValueError, match="'needed' is missing, expected number"):
        read(Mixed, {})


def test_null_is_for_fields_that_say_so() -> None:
    assert read(Mixed, {"needed": 1, "nullable": None}).nullable is None
    for key in ("needed", "absent", "defaulted"):
        with pytest.raises(ValueError, match=f"'{key}' is None"):
            read(Mixed, {"needed": 1, key: None})


def test_writing_checks_as_reading_does() -> None:
    with pytest.raises(ValueError, match="'needed' is nan"):
        write(Mixed(math.nan))
    with pytest.raises(ValueError, match="'needed' is None"):
        write(Mixed(None))  # pyright: ignore[reportArgumentType]
