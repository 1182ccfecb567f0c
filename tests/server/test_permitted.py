import pytest
from pluriverse_protocol.env_spaces import Choice, Spaces
from pluriverse_protocol.events import KeyEvent, PointerEvent, SubmitEvent
from pluriverse_server.permitted import pass_on, permitted_by

PROBE = 0xBEEF1
LEFT, SPACE, STEP, CONTROL = 0xFF51, 0x20, 0x63, 0xFFE3


@pytest.mark.parametrize(
    ("spaces", "keys", "pointer"),
    [
        (Spaces(keys=(LEFT,)), {LEFT}, False),
        (Spaces(discrete=(Choice("wait", ()), Choice("left", (LEFT, SPACE)))), {LEFT, SPACE}, False),
        (Spaces(discrete=(Choice("left", (LEFT,)),), step=STEP), {LEFT, STEP}, False),
        (Spaces(keys=(LEFT,), pointer=True), {LEFT}, True),
        (Spaces(pointer=True), set[int](), True),
        (Spaces(pads=1), set[int](), False),
    ],
)
def test_what_the_spaces_name_is_permitted_and_nothing_else(spaces: Spaces, keys: set[int], pointer: bool) -> None:
    permitted = permitted_by(spaces, (PROBE,))
    assert permitted is not None
    pressed = {key for key in (LEFT, SPACE, STEP, CONTROL, PROBE) if permitted.allows(KeyEvent(key, True))}
    assert pressed == {*keys, PROBE}
    assert permitted.allows(PointerEvent(1, 1, 1)) == pointer


def test_every_key_may_be_released() -> None:
    permitted = permitted_by(Spaces(keys=(LEFT,)), ())
    assert permitted is not None
    assert permitted.allows(KeyEvent(CONTROL, False))


@pytest.mark.parametrize("spaces", [None, Spaces(), Spaces(text=True, observation=(4,))])
def test_spaces_that_name_no_input_permit_everything(spaces: Spaces | None) -> None:
    assert permitted_by(spaces, (PROBE,)) is None


@pytest.mark.parametrize(
    ("spaces", "passed"),
    [
        (Spaces(submit=True), {"key", "pointer", "submit"}),
        (Spaces(keys=(LEFT,), submit=True), {"key", "submit"}),
        (Spaces(pointer=True), {"pointer"}),
        (None, {"key", "pointer"}),
    ],
)
def test_who_may_submit_may_press_what_else_is_named_or_everything(spaces: Spaces | None, passed: set[str]) -> None:
    events = {"key": KeyEvent(LEFT, True), "pointer": PointerEvent(1, 1, 1), "submit": SubmitEvent()}
    permitted = permitted_by(spaces, ())
    assert {name for name, event in events.items() if pass_on([event], permitted)} == passed
