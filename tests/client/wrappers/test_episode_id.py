from __future__ import annotations

from pluriverse.wrappers import EpisodeID
from support.scripted import Result, Script, ScriptedEnv, seen


def test_episodes_are_numbered_through_all_indices_up_to_the_limit() -> None:
    going: Result = (seen(), 0.0, False, {})
    ending: Result = (None, 1.0, True, {})
    env = ScriptedEnv(Script([ending, going, ending]), Script([going, ending, going]))
    numbered = EpisodeID(env, limit=3)
    numbered.reset()
    numbers: list[list[int | None]] = []
    finished: list[bool] = []
    for _ in range(3):
        info = numbered.step([[], []])[3]
        numbers.append([info_i["vectorized.episode_id"] for info_i in info["n"]])
        finished.append(info["vectorized.finished"])
    assert numbers == [[0, 1], [2, 1], [2, None]]
    assert finished == [False, False, True]
