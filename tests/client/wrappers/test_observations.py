from pluriverse.spaces import ScreenObservation
from pluriverse.wrappers import CropObservation, Vision
from support.scripted import Script, ScriptedEnv, seen


def test_picture_is_cut_and_the_rest_stays() -> None:
    observation = seen(0, "text")
    assert observation["vision"] is not None
    observation["vision"][1:3, 2:5] = 7
    crop = CropObservation(ScriptedEnv(Script([(observation, 0.0, False, {})])), (2, 1, 3, 2))
    assert crop.reset() == [None]
    (cut,), *_ = crop.step([[]])
    assert cut["vision"].shape == (2, 3, 3)
    assert cut["vision"].min() == 7
    assert cut["text"] == ["text"]


def test_environment_without_pictures_is_left_alone() -> None:
    observation: ScreenObservation = {"vision": None, "text": [], "observation": [1]}
    crop = CropObservation(ScriptedEnv(Script([(observation, 0.0, False, {})])))
    assert crop.step([[]])[0] == [observation]


def test_observations_are_their_pictures() -> None:
    vision = Vision(ScriptedEnv(Script([(seen(5), 0.0, False, {})]), Script([(None, 0.0, False, {})])))
    assert vision.reset() == [None, None]
    picture, nothing = vision.step([[], []])[0]
    assert picture.shape == (4, 6, 3)
    assert nothing is None
