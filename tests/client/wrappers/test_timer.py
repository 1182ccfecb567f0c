from __future__ import annotations

from pluriverse.wrappers import Throttle, Timer
from support.scripted import ScriptedEnv


def test_time_of_a_step_is_told_without_what_a_throttle_waited() -> None:
    timer = Timer(Throttle(ScriptedEnv(), fps=20))
    assert timer.mean_s == 0.0
    timer.reset()
    info = timer.step([[]])[3]
    assert info["stats.gauges.timer.step"] < info["stats.throttle.sleep"]
    assert timer.steps == 1
    assert timer.mean_s == info["stats.gauges.timer.step"]
