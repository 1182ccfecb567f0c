import logging

import pytest
from pluriverse.wrappers import Logger, Throttle, Timer
from pluriverse.wrappers.meter import Meter
from support.scripted import ScriptedEnv


def test_line_tells_rates_lags_and_rewards() -> None:
    meter = Meter(2, 100.0)
    info = {
        "stats.vnc.updates.n": 30,
        "stats.reward.count": 2,
        "stats.gauges.diagnostics.lag.observation": (0.010, 0.014),
    }
    meter.note([1.0, 0.5], [False, True], [info, {"env_status.disconnected": True}])
    meter.note([0.0, 0.0], [False, False], [info, {"env_status.disconnected": True}])
    assert meter.frames_per_second(102.0) == [30.0, 0.0]
    assert meter.lag_s("observation") == 0.012
    assert meter.lag_s("action") is None
    assert meter.line(102.0) == (
        "1.0 steps/s, 30/0 frames/s, reward +1.5 in 4 messages, observation lag 12.0 ms, 1 episodes ended, 1/2 remotes"
    )
    meter.note([0.0, 0.0], [False, False], [info, info])
    assert meter.line(103.0).endswith("2/2 remotes")


def test_line_is_logged_each_period(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    logger = Logger(ScriptedEnv(), period_s=0.0)
    logger.reset()
    for _ in range(3):
        logger.step([[]])
    assert len(caplog.messages) == 3
    assert "1/1 remotes" in caplog.messages[0]


def test_time_of_a_step_is_told_without_what_a_throttle_waited() -> None:
    timer = Timer(Throttle(ScriptedEnv(), fps=20))
    timer.reset()
    info = timer.step([[]])[3]
    assert info["stats.gauges.timer.step"] < info["stats.throttle.sleep"]
