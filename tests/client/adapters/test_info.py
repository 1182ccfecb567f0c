from typing import Any

import numpy as np
import pytest
from pluriverse.adapters.info import Ended, ended, info_of, numbers
from pluriverse.rewarder.result import Lags, Result

SCREEN = np.zeros((1, 1, 3), np.uint8)

NOTHING = Result(SCREEN)
EVERYTHING = Result(
    SCREEN,
    done=True,
    truncated=True,
    error="it broke",
    reconnecting=True,
    info={"reason": "it broke", "score": 7, "lives": 3},
    reward_count=2,
    updates=3,
    pixels=400,
    episode_id=4,
    env_state="running",
    image_local_time=1.5,
    image_remote_time=1.25,
    lags=Lags(reward=(0.1, 0.2)),
)


def test_numbers_have_the_same_keys_types_and_shapes_whatever_is_known() -> None:
    nothing, everything = numbers([NOTHING]), numbers([EVERYTHING])
    assert list(nothing) == list(everything)
    for key, values in nothing.items():
        assert values.dtype == everything[key].dtype, key
        assert values.shape == everything[key].shape, key
        assert values.dtype.kind in "bif", key


def test_numbers_of_several_results_are_arrays_of_their_own() -> None:
    both = numbers([NOTHING, EVERYTHING])
    assert {len(values) for values in both.values()} == {2}
    assert both["stats.vnc.updates.pixels"].tolist() == [0, 400]
    assert both["lives"].tolist() == [-1, 3]
    assert both["lost"].tolist() == both["TimeLimit.truncated"].tolist() == [False, True]
    assert both["ended"].tolist() == [Ended.NO, Ended.LOST]
    np.testing.assert_array_equal(both["diagnostics.image_remote_time"], [np.nan, 1.25])
    np.testing.assert_array_equal(both["stats.gauges.diagnostics.lag.reward"], [[np.nan, np.nan], [0.1, 0.2]])
    again = numbers([NOTHING, EVERYTHING])
    assert not any(np.shares_memory(values, again[key]) for key, values in both.items())


def test_full_infos_say_all_of_it_and_others_only_what_the_program_reports() -> None:
    ours = {"lost": True, "ended": Ended.LOST, "TimeLimit.truncated": True}
    reported = {"reason": "it broke", "score": 7, "error": "it broke", "lives": 3}
    assert info_of(EVERYTHING, False) == reported | ours
    full = info_of(EVERYTHING, "full")
    assert full.items() >= (reported | ours).items()
    assert full.keys() - ours.keys() == EVERYTHING.full_info().keys() - {"terminated", "truncated"}
    assert full["stats.gauges.diagnostics.lag.reward"] == (0.1, 0.2)


@pytest.mark.parametrize("measured", ["full", False])
def test_infos_have_the_latest_text(measured: Any) -> None:
    assert info_of(NOTHING._replace(texts=("Begin.", "Go on.")), measured)["text"] == "Go on."


@pytest.mark.parametrize("lives", [None, "many", -1, 2**80, float("inf"), [3]])
def test_lives_that_are_no_number_of_lives_are_unknown(lives: Any) -> None:
    assert numbers([Result(SCREEN, info={"lives": lives})])["lives"].tolist() == [-1]


def cut(reason: str | None, **fields: Any) -> Result:
    info = {} if reason is None else {"reason": reason}
    return Result(SCREEN, done=True, truncated=True, info=info, **fields)


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (Result(SCREEN), Ended.NO),
        (Result(SCREEN, done=True, terminated=True), Ended.OUTCOME),
        (Result(SCREEN, truncated=True), Ended.STEP_LIMIT),
        (cut("time limit"), Ended.TIME_LIMIT),
        (cut("time limit: 108000 frames"), Ended.TIME_LIMIT),
        (cut("reset"), Ended.RESET),
        (cut(None, error="it broke"), Ended.LOST),
        (cut("fell asleep"), Ended.OTHER),
        (cut(None), Ended.OTHER),
    ],
)
def test_end_of_an_episode_has_a_number_with_a_name(result: Result, why: Ended) -> None:
    assert ended(result) is why
    assert info_of(result, True)["ended"] == info_of(result, "full")["ended"] == why
    assert info_of(result, "full")["TimeLimit.truncated"] is (why not in {Ended.NO, Ended.OUTCOME})
