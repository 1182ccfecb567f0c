import pytest
from hypothesis import given
from hypothesis import strategies as st
from pluriverse_server.manifest.key_combinations import parse_combination
from pluriverse_server.overlay.rules import (
    COMMANDS,
    EDITING,
    MODIFIER_KEYS,
    SHIFT,
    Combination,
    is_settled,
    passes,
    without_shift,
)

LOCKS = 0b10110010  # Lock, Mod2, Mod3, Mod5: Caps Lock, Num Lock, what keeps clicks apart, AltGr
keysyms = st.integers(1, 0x1FFFFFFF) | st.sampled_from([*range(0x20, 0x7F), *range(0xFE00, 0x10000)])
states = st.integers(0, 255)


@given(keysyms, states)
def test_locks_and_altgr_change_nothing(keysym: int, state: int) -> None:
    assert passes([keysym], state) == passes([keysym], state ^ LOCKS) == passes([keysym], state & ~LOCKS)


@given(keysyms, states.filter(lambda state: state & COMMANDS))
def test_what_passes_with_ctrl_alt_or_super_is_listed(keysym: int, state: int) -> None:
    combination = Combination(without_shift(keysym), state & (COMMANDS | SHIFT))
    assert passes([keysym], state) == (combination in EDITING or keysym in MODIFIER_KEYS)


@given(keysyms, states)
def test_what_is_extra_passes_and_nothing_else_does_for_it(keysym: int, state: int) -> None:
    extra = {Combination(without_shift(keysym), state & (COMMANDS | SHIFT))}
    assert passes([keysym], state, extra)
    assert passes([keysym], state ^ SHIFT, extra) == passes([keysym], state ^ SHIFT)


@given(st.lists(keysyms, max_size=2), st.sampled_from([0, SHIFT]))
def test_a_key_that_is_not_looked_at_would_pass(meanings: list[int], state: int) -> None:
    assert not is_settled(meanings) or passes(meanings, state)


@given(keysyms)
def test_a_key_is_blocked_for_either_of_its_meanings(keysym: int) -> None:
    f5 = parse_combination("F5").keysym
    assert not passes([f5, keysym], SHIFT) or keysym in EDITING
    assert passes([ord("a"), keysym], SHIFT) == (passes([keysym], 0) or keysym == parse_combination("Escape").keysym)


def test_a_key_that_means_nothing_is_blocked() -> None:
    assert not passes([], 0)
    assert not is_settled([])


@pytest.mark.parametrize("text", ["é", "ß", "あ", "🙂", "Num_Lock", "Hyper_R", "KP_Enter", "Insert"])
def test_characters_of_all_scripts_and_modifiers_pass(text: str) -> None:
    assert passes([parse_combination(text).keysym], 0)


@pytest.mark.parametrize("keysym", [0xBEEF1, 0xBEEF2, 0x1008FF26, 0x1005FF70, 0x01110000, 0xFFCA, 0xFEE9])
def test_functions_of_vendors_and_unknown_ones_are_blocked(keysym: int) -> None:
    assert not passes([keysym], 0)
