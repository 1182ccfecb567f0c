"""The examples with the trainers' own packages, each in its virtual environment; the models do what a script has."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.leftovers import Leftovers
from support.remotes import ROOT
from support.scripted_endpoint import Script, scripted

TRAIN_S = 600.0

pytestmark = [pytest.mark.nightly, pytest.mark.browser, pytest.mark.timeout(TRAIN_S)]

TRAINERS = ROOT / "examples/trainers"

# On and beside the button of wob.mini.ClickTest-v0, with the seeds 0 and 1.
HIT, MISSED = {"x": 45, "y": 140}, {"x": 3, "y": 3}


def run(trainer: str, *command: str | Path, folder: Path = ROOT, **environment: str) -> str:
    """Run a command of a trainer's virtual environment; return what it printed."""
    programs = ROOT / ".venv" / trainer / "bin"
    if not programs.exists():
        pytest.skip(f"{trainer} isn't here: tools/setup all")
    path = f"{ROOT / '.venv/bin'}:{os.environ['PATH']}"
    done = subprocess.run(
        [programs / command[0], *command[1:]],
        cwd=folder,
        env={**os.environ, "PATH": path, "HF_HUB_OFFLINE": "1", **environment},
        capture_output=True,
        text=True,
        timeout=TRAIN_S,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_vision_model_learns_from_a_step_of_trl() -> None:
    leftovers = Leftovers()
    said = run("trl", "python", ROOT / "tests/support/trainers/trl_step.py", json.dumps([HIT, MISSED]))
    learnt = json.loads(said.splitlines()[-1])
    assert learnt["moved"] == {"visual": True, "language_model": True}
    # One of the two clicked on the button, and each called a tool once.
    assert 0.4 < learnt["rewards/Screen/mean"] <= 0.5
    assert (learnt["tools/call_frequency"], learnt["tools/failure_frequency"]) == (1, 0)
    leftovers.assert_none(60)


def click(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Say nonsense first, and click on the button once told so."""
    call = {"name": "click", "arguments": HIT}
    return {"content": json.dumps(call) if len(messages) > 1 else "The button, please."}


def test_verifiers_evaluates_a_model_that_is_shown_pictures(tmp_path: Path) -> None:
    with scripted(click) as endpoint:
        client = ["--client.base-url", endpoint.url, "--client.api-key-var", "KEY", "--model", "scripted"]
        count = ["-n", "2", "--no-push", "--no-rich", "--output-dir", tmp_path]
        package, here = str(TRAINERS / "verifiers_screen"), ["--env.agent.runtime.type", "subprocess"]
        run("verifiers", "vf-eval", "verifiers_screen", *here, *client, *count, PYTHONPATH=package, KEY="none")
    (traces,) = tmp_path.glob("**/traces.jsonl")
    episodes = [json.loads(line) for line in traces.read_text().splitlines()]
    assert len(episodes) == 2
    earned = [episode["traces"][0]["rewards"]["earned"]["score"] for episode in episodes]
    assert min(earned) > 0.9
    (picture, _) = endpoint.asked[-1]["messages"][-1]["content"]
    assert picture["image_url"]["url"].startswith("data:image/png;base64,")


def test_verls_agent_loop_calls_the_tool_in_two_rollouts_at_once() -> None:
    leftovers = Leftovers()
    said = run("verl", "python", ROOT / "tests/support/trainers/verl_calls.py", json.dumps([HIT, MISSED]))
    hit, missed = json.loads(said.splitlines()[-1])
    assert hit[1][:2] == ["The episode is over.", [[160, 210]]]
    assert (hit[1][2] > 0.9, missed[1][2]) == (True, 0)
    assert all(nonsense[0].startswith("unknown action 'fly'") for nonsense, _ in (hit, missed))
    leftovers.assert_none(60)


SKYRL = """
import json, skyrl_gym
skyrl_gym.register(id="screen", entry_point="skyrl_env:ScreenEnv")
env = skyrl_gym.make("screen", extras={"seed": 1})
conversation, _ = env.init([])
answers = [env.step(action) for action in ("nonsense", '{"name": "click", "arguments": {"mark": 1}}')]
env.close()
print(json.dumps([conversation, answers]))
"""


def test_an_episode_of_skyrl_is_read_and_answered_in_words() -> None:
    leftovers = Leftovers()
    said = run("skyrl", "python", "-c", SKYRL, PYTHONPATH=str(TRAINERS))
    ((screen,), (nonsense, click)) = json.loads(said.splitlines()[-1])
    assert '[1] button "Click Me!"' in screen["content"]
    assert (nonsense["reward"], nonsense["done"], len(nonsense["observations"])) == (0, False, 1)
    assert (click["reward"] > 0.9, click["done"], click["observations"]) == (True, True, [])
    leftovers.assert_none(60)


def pressed(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Say nonsense first, and click on the first mark once told so."""
    nonsense = messages[-2]["role"] != "assistant"
    return {"content": "The button." if nonsense else '{"name": "click", "arguments": {"mark": 1}}'}


def test_nemo_gym_collects_rollouts_that_are_read_and_answered_in_words(tmp_path: Path) -> None:
    leftovers = Leftovers()
    # Its command writes beside what it reads, and would install each of its servers by itself.
    shutil.copytree(TRAINERS / "nemo_gym_screen", tmp_path, dirs_exist_ok=True)
    servers = ("resources_servers/screen", "responses_api_agents/gymnasium_agent", "responses_api_models/vllm_model")
    for server in (tmp_path / "installed" / name for name in servers):
        server.mkdir(parents=True)
        (server / ".venv").symlink_to(ROOT / ".venv/nemo-gym")
    installed = [f"+uv_venv_dir={tmp_path}/installed", "+skip_venv_if_present=true"]
    rows = ["--config", "resources_servers/screen/screen.yaml", "--split", "validation", "--output", "rollouts.jsonl"]
    with scripted(pressed) as endpoint:
        model = ["--model-type", "vllm_model", "--model", "scripted", "--model-api-key", "none"]
        served = ["--model-url", endpoint.url]
        run("nemo-gym", "gym", "eval", "run", *rows, *model, *served, *installed, folder=tmp_path)
    rollouts = [json.loads(line) for line in (tmp_path / "rollouts.jsonl").read_text().splitlines()]
    assert len(rollouts) == 2
    assert all(rollout["terminated"] and rollout["reward"] > 0.9 for rollout in rollouts)
    screens = [rollout["responses_create_params"]["input"][-1]["content"] for rollout in rollouts]
    assert all('[1] button "Click Me!"' in screen for screen in screens)
    assert screens[0] != screens[1]  # of seeds 0 and 1
    leftovers.assert_none(60)


def told(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Return where the task's instruction says to click."""
    words = next(part["text"] for part in messages[0]["content"] if part["type"] == "text")
    return MISSED if "Miss it." in words else HIT


def instructed(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Click there, as the example asks for it."""
    return {"content": json.dumps({"name": "click", "arguments": told(messages)})}


def instructed_as_computer_1_has_it(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Click there, in the words of Harbor's own agent."""
    action = {"type": "click", **told(messages)}
    return {"content": json.dumps({"analysis": "", "plan": "", "action": action})}


@pytest.mark.parametrize(
    ("agent", "model"),
    [
        (["harbor_screen:ScreenAgent"], instructed),
        (
            ["harbor_computer:ScreenComputer", "--agent-kwarg", "max_turns=3", "--agent-kwarg", "enable_images=true"],
            instructed_as_computer_1_has_it,
        ),
    ],
)
def test_harbor_runs_two_tasks_with_pictures_and_grades_what_they_earned(
    agent: list[str], model: Script, tmp_path: Path
) -> None:
    leftovers = Leftovers()
    for seed, instruction in enumerate(("Hit it.", "Miss it.")):
        task = tmp_path / "tasks" / str(seed)
        for folder in ("environment", "tests"):
            (task / folder).mkdir(parents=True)
        (task / "task.toml").touch()
        (task / "tests/test.sh").touch()
        (task / "instruction.md").write_text(instruction)
        (task / "environment/screen.json").write_text(json.dumps({"env": "wob.mini.ClickTest-v0", "seed": seed}))
    job = ["--path", tmp_path / "tasks", "--model", "openai/scripted", "--jobs-dir", tmp_path / "jobs", "--quiet"]
    job += ["--env", "harbor_screen:ScreenEnvironment", "--verifier", "harbor_screen:Earned", "--agent", *agent]
    with scripted(model) as endpoint:
        base, package = endpoint.url, str(TRAINERS)
        run("harbor", "harbor", "run", *job, PYTHONPATH=package, OPENAI_API_BASE=base, OPENAI_API_KEY="none")
    trials = [json.loads(path.read_text()) for path in sorted(tmp_path.glob("jobs/*/*/result.json"))]
    assert [trial["exception_info"] for trial in trials] == [None, None]
    hit, missed = (trial["verifier_result"]["rewards"]["reward"] for trial in trials)
    assert (hit > 0.9, missed) == (True, 0)
    parts = {part["type"]: part for part in endpoint.asked[0]["messages"][-1]["content"]}
    assert parts["image_url"]["image_url"]["url"].startswith("data:image/")
    leftovers.assert_none(60)
