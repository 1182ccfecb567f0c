from pluriverse_protocol import Headers, decode_from_agent, encode, limits
from pluriverse_protocol.events import PointerEvent
from pluriverse_protocol.messages import Action, Reset


def test_the_largest_action_fits_the_largest_message() -> None:
    event = PointerEvent(limits.MAX_COORDINATE, limits.MAX_COORDINATE, 255)
    action = Action((event,) * limits.MAX_EVENTS_PER_ACTION, "x" * limits.MAX_ENV_ID_CHARS)
    header = Headers("x" * limits.MAX_MESSAGE_ID_CHARS, 1480546560.263108, limits.MAX_EPISODE_ID)
    assert decode_from_agent(encode(action, header)).message == action


def test_the_most_options_fit_the_largest_message_in_any_alphabet() -> None:
    names = ["\n" * (limits.MAX_OPTION_NAME_CHARS - 2) + f"{number:02}" for number in range(limits.MAX_OPTIONS)]
    reset = Reset("\u2713" * limits.MAX_ENV_ID_CHARS, options=dict.fromkeys(names, "\u2713" * limits.MAX_OPTION_CHARS))
    header = Headers("\u2713" * limits.MAX_MESSAGE_ID_CHARS, 1480546560.263108, limits.MAX_EPISODE_ID)
    assert decode_from_agent(encode(reset, header)).message == reset
