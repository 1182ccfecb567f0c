from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pluriverse_protocol.events import KeyEvent, PointerEvent
from pluriverse_server.authoring.look.steps import Event, key_name, steps_of
from pluriverse_server.manifest.game import ResetTable
from pluriverse_server.manifest.spaces import keysym

ESCAPE, SHIFT, SPACE = 0xFF1B, 0xFFE1, 0x20


def pressed(at: float, *keys: int) -> list[tuple[float, Event]]:
    """Keys that are held together for a tenth of a second."""
    down: list[tuple[float, Event]] = [(at, KeyEvent(key, True)) for key in keys]
    return [*down, *((at + 0.1, KeyEvent(key, False)) for key in reversed(keys))]


def test_keys_and_clicks_are_steps_that_end_when_what_is_read_has_changed() -> None:
    events = [
        (0.1, PointerEvent(3, 4, 0)),
        *pressed(1, ESCAPE),
        (2, PointerEvent(30, 40, 1)),
        (2.1, PointerEvent(30, 40, 0)),
        *pressed(3, SHIFT, SPACE),
        (4, PointerEvent(5, 6, 4)),
    ]
    readings = [
        (0, {"menu": False, "full": 0.0, "lives": 0}),
        (1.5, {"menu": True, "full": 0.0, "lives": 0}),
        (2.5, {"menu": True, "full": 0.96, "lives": 0}),
        (3.5, {"menu": True, "full": 0.96, "lives": 3}),
        (4.5, {"menu": True, "full": 0.02, "lives": 3}),
    ]
    assert steps_of(events, readings) == [
        {"keys": ["Escape"], "until": "menu"},
        {"click": [30, 40], "until": "full > 0.9"},
        {"keys": ["Shift_L", "space"], "until": "lives == 3"},
        {"click": [5, 6], "button": 3, "until": "full < 0.1"},
    ]


def test_what_a_key_leads_to_while_it_is_still_down_is_of_its_own_step() -> None:
    events = [*pressed(1, ESCAPE), *pressed(2, SHIFT, SPACE), (2.05, PointerEvent(3, 4, 1))]
    readings = [(0, {"level": 0}), (1.05, {"level": 1}), (1.9, {"level": 1}), (2.02, {"level": 2}), (2.2, {"level": 3})]
    assert steps_of(sorted(events, key=lambda event: event[0]), readings) == [
        {"keys": ["Escape"], "until": "level == 1"},
        {"keys": ["Shift_L", "space"], "until": "level == 2"},
        {"click": [3, 4], "until": "level == 3"},
    ]


def test_a_row_of_characters_is_a_text() -> None:
    events = [event for index, letter in enumerate("a bc") for event in pressed(index, ord(letter))]
    assert steps_of([*events, *pressed(9, ESCAPE)], []) == [{"type": "a bc"}, {"keys": ["Escape"]}]
    assert steps_of(pressed(0, ord("n")), []) == [{"keys": ["n"]}]


@given(st.lists(st.lists(st.integers(0x20, 0x7E) | st.sampled_from([ESCAPE, SHIFT, 0xFFBE]), min_size=1, max_size=3)))
def test_whatever_is_pressed_becomes_steps_that_runtime_toml_takes(rows: list[list[int]]) -> None:
    events = [event for at, keys in enumerate(rows) for event in pressed(at, *dict.fromkeys(keys))]
    steps = steps_of(events, [])
    ResetTable.model_validate({"by": "restart", "steps": steps[:10]})
    keys = sum(len(step.get("keys", "")) + len(step.get("type", "")) for step in steps)
    assert keys == sum(len(set(row)) for row in rows)


@given(st.integers(0x20, 0x7E) | st.integers(0xFF08, 0xFFFF))
def test_a_key_has_its_name(key: int) -> None:
    assert keysym(key_name(key)) == key
