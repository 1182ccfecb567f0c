from __future__ import annotations

from pluriverse.wrappers import Render
from support.scripted import ScriptedEnv


def test_each_step_is_shown() -> None:
    env = ScriptedEnv()
    render = Render(env, "terminal")
    render.reset()
    render.step([[]])
    render.step([[]])
    assert env.shown == ["terminal", "terminal"]
