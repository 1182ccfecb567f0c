"""Eight rollouts at once, by trainers' own packages, with a model that takes its time: beside that time alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from report import Effort, Figures, Line, Measurement, Target
from support.remotes import ROOT
from support.scripted_endpoint import scripted

AT_ONCE: Final = 8
TURNS: Final = 10
ANSWER_S: Final = 0.5
TRAIN_S: Final = 600.0

# Beside the button of wob.mini.ClickTest-v0, and on it.
MISSED: Final = {"x": 3, "y": 3}
HIT: Final = {"x": 45, "y": 140}


def run(effort: Effort) -> Figures:
    """How many times the model's own time it takes, by each trainer whose virtual environment is here."""
    measured = {"verifiers": lambda: _verifiers(effort.of(4, 2) * AT_ONCE), "trl": _trl}
    return {name: measure() for name, measure in measured.items() if (ROOT / ".venv" / name).exists()}


def _verifiers(rollouts: int) -> float:
    asked: list[float] = []

    def click(messages: list[dict[str, Any]]) -> dict[str, Any]:
        asked.append(time.perf_counter())
        time.sleep(ANSWER_S)
        place = HIT if len(messages) > 2 * TURNS - 2 else MISSED
        return {"content": json.dumps({"name": "click", "arguments": place})}

    with scripted(click) as endpoint, tempfile.TemporaryDirectory() as folder:
        model = ["--client.base-url", endpoint.url, "--client.api-key-var", "KEY", "--model", "scripted"]
        count = ["-n", str(rollouts), "-c", str(AT_ONCE), "--no-push", "--no-rich", "--output-dir", folder]
        here = ["--env.agent.runtime.type", "subprocess"]
        package = str(ROOT / "examples/trainers/verifiers_screen")
        _call("verifiers", "vf-eval", "verifiers_screen", *here, *model, *count, PYTHONPATH=package, KEY="none")
    return (asked[-1] + ANSWER_S - asked[0]) / (len(asked) * ANSWER_S / AT_ONCE)


def _trl() -> float:
    step, places = str(ROOT / "tests/support/trainers/trl_step.py"), json.dumps([MISSED] * AT_ONCE)
    said = _call("trl", "python", step, places, str(TURNS), str(ANSWER_S))
    return json.loads(said.splitlines()[-1])["answering_s"] / (TURNS * ANSWER_S)


def _call(trainer: str, *command: str, **environment: str) -> str:
    programs = ROOT / ".venv" / trainer / "bin"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [programs / command[0], *command[1:]],
        cwd=ROOT,
        env={**os.environ, "PATH": path, "HF_HUB_OFFLINE": "1", **environment},
        capture_output=True,
        check=True,
        text=True,
        timeout=TRAIN_S,
    )
    return done.stdout


MEASUREMENT: Final = Measurement(
    "rollouts",
    tuple(
        Line(f"8 rollouts at once by {title}, beside 0.5 s an answer of the model alone", "times", name, Target(1.3))
        for title, name in (("verifiers", "verifiers"), ("TRL", "trl"))
    ),
    run,
)
