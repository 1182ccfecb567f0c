from hypothesis import given
from hypothesis import strategies as st
from pluriverse_server.access.throttle import (
    FIRST_DELAY_S,
    FORGET_S,
    MAX_ADDRESSES,
    MAX_DELAY_S,
    MAX_WAIT_S,
    PasswordThrottle,
)


def guess(throttle: PasswordThrottle, now: float, *, right: bool = False, address: str = "a") -> float | None:
    """Guess once, and return when that was judged; None if it was refused unread."""
    wait_s = throttle.delay(address, now)
    if wait_s is None:
        return None
    throttle.judged(address, right=right, now=now + wait_s)
    return now + wait_s


def test_address_without_a_wrong_password_never_waits() -> None:
    throttle = PasswordThrottle()
    assert [guess(throttle, 0.0, right=True) for _ in range(100)] == [0.0] * 100
    guess(throttle, 0.0, address="guesser")
    assert guess(throttle, 0.0, right=True) == 0.0


def test_each_wrong_password_makes_the_next_wait_longer() -> None:
    throttle = PasswordThrottle()
    now, pauses = 0.0, list[float]()
    for _ in range(8):
        judged = guess(throttle, now)
        assert judged is not None
        pauses.append(judged - now)
        now = judged
    assert pauses[:3] == [0.0, FIRST_DELAY_S, 2 * FIRST_DELAY_S]
    assert pauses[-1] == MAX_DELAY_S


def test_right_password_waits_as_a_wrong_one_does() -> None:
    waits: list[float | None] = []
    for right in (False, True):
        throttle = PasswordThrottle()
        guess(throttle, 0.0)
        waits.append(guess(throttle, 0.0, right=right))
    assert waits[0] == waits[1] == FIRST_DELAY_S


def test_guesses_side_by_side_wait_for_each_other_and_the_rest_is_refused() -> None:
    throttle = PasswordThrottle()
    guess(throttle, 0.0)
    turns = int(MAX_WAIT_S / FIRST_DELAY_S)
    waits = [throttle.delay("a", 0.0) for _ in range(turns + 2)]
    assert waits == [FIRST_DELAY_S * (1 + turn) for turn in range(turns)] + [None, None]


def test_wrong_passwords_are_forgotten_after_a_while() -> None:
    throttle = PasswordThrottle()
    for _ in range(5):
        guess(throttle, 0.0)
    later = 100 * FORGET_S
    assert guess(throttle, later, right=True) == later


def test_remembers_a_bounded_number_of_addresses() -> None:
    throttle = PasswordThrottle()
    for number in range(MAX_ADDRESSES + 1):
        guess(throttle, 0.0, address=str(number))
    assert throttle.delay("0", 0.0) == 0.0
    assert throttle.delay("1", 0.0) == FIRST_DELAY_S


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=200))
def test_no_address_has_more_wrong_passwords_judged_than_its_pauses_allow(guesses: list[tuple[float, bool]]) -> None:
    throttle = PasswordThrottle()
    now, judged = 0.0, list[float]()
    for pause, right in guesses:
        now += pause
        at = guess(throttle, now, right=right)
        if at is not None and not right:
            judged.append(at)
    for n in range(len(judged) - 1):
        assert judged[n + 1] - judged[n] >= FIRST_DELAY_S - 1e-9
