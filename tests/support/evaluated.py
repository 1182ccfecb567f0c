"""Tasks and results of evaluations, for tests."""

from typing import Any, Final

from pluriverse_eval.results import Episode, Run
from pluriverse_eval.suite import Suite, Task

PONG: Final = "gym-core.PongNoFrameskip-v3"


def task(name: str = "pong", **fields: Any) -> Task:
    given: dict[str, Any] = {"env": PONG, "asks": "Return the ball.", "seconds": 2}
    return Task.model_validate({"name": name, **given, "random": -2, "reference": 2, "success": 1, **fields})


def suite(*tasks: Task, seeds: int = 2) -> Suite:
    return Suite(name="small", version=1, seeds=list(range(seeds)), tasks=list(tasks or [task()]), digest="d")


def run(agent: str = "random", **fields: Any) -> Run:
    given: dict[str, Any] = {
        "suite": "small",
        "suite_version": 1,
        "digest": "d",
        "modes": ["paused"],
        "seeds": [0],
        "tasks": ["pong"],
    }
    return Run.model_validate({"agent": agent, **given, "began": 0.0, "versions": {}, **fields})


def episode(task: str = "pong", mode: str = "paused", seed: int = 0, score: float = 50.0, **fields: Any) -> Episode:
    given: dict[str, Any] = {
        "earned": score / 25 - 2,
        "success": score > 60,
        "ended": "budget",
        "game_s": 2.0,
    }
    return Episode(task=task, mode=mode, seed=seed, score=score, acts=3, **{**given, **fields})
