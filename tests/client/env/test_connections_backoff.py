from pluriverse.env.connections import (
    FIRST_PAUSE_S,
    JITTER,
    LONG_PAUSE_S,
    LONGEST_PAUSE_S,
    SHARE_OF_OUTAGE,
    STEADY_S,
    Backoff,
)
from pluriverse_protocol.limits import SEAT_KEPT_S

EVEN = 0.5


def test_first_attempt_is_at_once_and_pauses_double_up_to_a_long_one() -> None:
    backoff = Backoff()
    pauses = [backoff.pause(0.0, EVEN) for _ in range(12)]
    assert pauses[:4] == [0.0, FIRST_PAUSE_S, 2 * FIRST_PAUSE_S, 4 * FIRST_PAUSE_S]
    assert pauses[-1] == LONG_PAUSE_S
    assert pauses == sorted(pauses)


def test_pauses_are_spread_by_chance() -> None:
    for chance, share in ((0.0, 1 - JITTER), (1.0, 1 + JITTER)):
        backoff = Backoff()
        backoff.pause(0.0, EVEN)
        assert backoff.pause(0.0, chance) == FIRST_PAUSE_S * share


def test_remote_that_stays_away_for_a_day_is_still_tried_ever_more_seldom() -> None:
    backoff = Backoff()
    backoff.broke(0.0)
    now, pauses = 0.0, list[tuple[float, float]]()
    while now < 24 * 3600:
        pauses.append((now, backoff.pause(now, EVEN)))
        now += pauses[-1][1]
    assert sum(at < SEAT_KEPT_S for at, _ in pauses) >= SEAT_KEPT_S / LONG_PAUSE_S
    assert all(pause <= max(LONG_PAUSE_S, SHARE_OF_OUTAGE * at) for at, pause in pauses)
    assert pauses[-1][1] == LONGEST_PAUSE_S
    assert len(pauses) < 24 * 3600 / LONGEST_PAUSE_S + 50


def test_connection_that_breaks_soon_counts_as_one_more_failure() -> None:
    backoff = Backoff()
    backoff.broke(0.0)
    backoff.pause(0.0, EVEN)
    backoff.whole(1.0)
    backoff.broke(1.0 + STEADY_S / 2)
    assert backoff.pause(0.0, EVEN) == FIRST_PAUSE_S


def test_line_that_breaks_soon_after_it_was_mended_has_all_of_its_time_again() -> None:
    backoff = Backoff()
    backoff.broke(0.0)
    backoff.whole(20.0)
    backoff.broke(20.0 + STEADY_S / 2)
    backoff.broke(29.0)
    assert backoff.broken_for(30.0) == 10.0 - STEADY_S / 2


def test_connection_that_held_begins_anew() -> None:
    backoff = Backoff()
    backoff.broke(0.0)
    backoff.pause(0.0, EVEN)
    backoff.whole(1.0)
    backoff.broke(1.0 + STEADY_S)
    assert backoff.pause(0.0, EVEN) == 0.0
    assert backoff.broken_for(10.0) == 9.0 - STEADY_S
