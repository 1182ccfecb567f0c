from __future__ import annotations

from pluriverse.wrappers import Vision
from support.scripted import Script, ScriptedEnv, seen


def test_observations_are_their_pictures() -> None:
    vision = Vision(ScriptedEnv(Script([(seen(5), 0.0, False, {})]), Script([(None, 0.0, False, {})])))
    assert vision.reset() == [None, None]
    picture, nothing = vision.step([[], []])[0]
    assert picture.shape == (4, 6, 3)
    assert nothing is None
