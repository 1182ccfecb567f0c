"""Environments that OpenEnv's own clients and validator use."""

import contextlib
import json
import re
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import numpy as np
import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from support.later import Later
from support.leftovers import Leftovers
from support.ports import free_port
from support.remotes import started
from support.waiting import eventually
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

pytestmark = pytest.mark.display

core: Any = Later("openenv.core")
validation: Any = Later("openenv.cli._validation")
client: Any = Later("pluriverse.adapters.openenv")
server: Any = Later("pluriverse.serving.openenv_server")

PONG = "gym-core.PongNoFrameskip-v3"
PLURIVERSE = str(Path(sys.executable).with_name("pluriverse"))
TOKEN = "let-me-in-to-play"
SESSION = "ws://127.0.0.1/ws"

DEADLINE_S = 60


def command(*more: str, remotes: str = "local:1") -> list[str]:
    return [PLURIVERSE, "openenv", PONG, "--remotes", remotes, "--http", f"127.0.0.1:{free_port()}", *more]


@pytest.fixture(scope="module")
def pong() -> Generator[str]:
    with started(command("--clock", "lockstep", remotes="local:2")) as (_, said):
        yield said.split()[0]


def generic(address: str) -> Any:
    return core.GenericEnvClient(base_url=address).sync()


def play(address: str, seed: int) -> list[Any]:
    with client.PluriverseEnv(base_url=address).sync() as env:
        results = [env.reset(seed=seed)]
        results += [env.step(client.PluriverseAction(action=number % 3, frames=8)) for number in range(60)]
    return results


def called(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def test_a_training_loop_gets_pictures_and_rewards_and_the_same_again(pong: str) -> None:
    first, second = play(pong, 7), play(pong, 7)
    assert [result.observation.image for result in first] == [result.observation.image for result in second]
    assert sum(result.reward for result in first[1:]) == sum(result.reward for result in second[1:]) < 0
    assert first[-1].observation.pixels().shape == (210, 160, 3)
    assert not np.array_equal(first[0].observation.pixels(), first[-1].observation.pixels())


def test_a_step_is_small(pong: str) -> None:
    with generic(pong) as env:
        env.reset()
        result = env.step({"action": 2})
    assert len(str(result)) <= 10 * 1024


def test_actions_are_those_of_computer_use_too(pong: str) -> None:
    with client.PluriverseEnv(base_url=pong).sync() as env:
        env.reset(seed=1)
        held = env.step(client.PluriverseAction(computer=called("press_keys", keys="Up", seconds=1)))
        assert held.observation.width == 160
        assert held.observation.message == ""
        typed = env.step(client.PluriverseAction(computer=called("type_text", text="mom")))
        assert typed.observation.message == "The environment doesn't use the keys m o, and ignored them."
        zoomed = env.step(client.PluriverseAction(computer=called("look", region=[0, 0, 80, 105])))
        assert zoomed.observation.pixels().shape == (210, 160, 3)
        state = env.state()
        assert (state.environment, state.step_count, state.frames) == (PONG, 3, 64)


def test_reset_begins_a_task_which_is_an_environment_and_a_seed(pong: str) -> None:
    asked = {"split": "test", "index": 3}
    assert httpx.get(f"{pong}/{PONG}/splits").json() == [{"name": name, "type": name} for name in ("train", "test")]
    assert httpx.post(f"{pong}/{PONG}/num_tasks", json={"split": "test"}).json() == {"num_tasks": 100}
    task = {"index": 3, "environment": PONG, "seed": 3}
    assert httpx.post(f"{pong}/{PONG}/task", json=asked).json() == {"task": task}
    assert httpx.post(f"{pong}/{PONG}/task", json={**asked, "index": 100}).status_code == 400
    with generic(pong) as env:
        assert env.reset(**asked).observation == env.reset(seed=3).observation


def test_no_environment_that_says_its_split_is_of_another_one() -> None:
    tasks = server.Tasks(server.environments("tasks.Notes*", "local:1"))
    assert tasks.get_task("test", 99) == {"index": 99, "environment": "tasks.NotesFindAndAdd-v0", "seed": 99}
    assert (tasks.num_tasks("test"), tasks.num_tasks("train")) == (100, 4 * 10_000)
    begun = {tasks.get_task("train", index)["environment"] for index in range(8)}
    assert len(begun) == 4
    assert "tasks.NotesFindAndAdd-v0" not in begun
    with pytest.raises(IndexError, match="no split 'test'; expected train"):
        server.Tasks(["tasks.NotesNewPage-v0"]).num_tasks("test")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"jump": 1}, "doesn't know 'jump'"),
        ({"environment": "gym-core.Pong-v0"}, "isn't served here"),
        ({"split": "dev", "index": 0}, "no split 'dev'"),
        ({"split": "test"}, "index"),
        ({"text_only": True}, "tree"),
    ],
)
def test_what_reset_does_not_know_is_refused(pong: str, arguments: dict[str, Any], said: str) -> None:
    with generic(pong) as env, pytest.raises(RuntimeError, match=said):
        env.reset(**arguments)


@pytest.mark.slow
@pytest.mark.browser
def test_a_session_plays_several_environments_and_reads_the_screen_in_words() -> None:
    command = [PLURIVERSE, "openenv", "wob.mini.Click*", "--remotes", "local:1", "--http", f"127.0.0.1:{free_port()}"]
    with started(command) as (_, said), client.PluriverseEnv(base_url=said.split()[0]).sync() as env:
        seen = env.reset(environment="wob.mini.ClickTest-v0", seed=1, text_only=True).observation
        assert (seen.image, "button" in seen.tree) == ("", True)
        seen = env.reset(environment="wob.mini.ClickLink-v0", seed=1).observation
        assert (bool(seen.image), seen.tree) == (True, "")
        assert env.state().environment == "wob.mini.ClickLink-v0"


NONSENSE: list[tuple[dict[str, Any], str]] = [
    ({"action": 99}, "expected an integer of 0 to"),
    ({"computer": called("fly")}, "unknown action"),
    ({"action": 1, "computer": called("wait", seconds=1)}, "got both"),
    ({"action": [["KeyEvent", "Up", True]] * 100_000}, "expected an integer of 0 to"),
    ({"computer": called("type_text", text="x" * 10_000_000)}, "at most 10000 characters"),
    ({"computer": called("click", x=160, y=0)}, "outside the picture"),
    ({"computer": called("press_keys", keys=5)}, "valid string"),
    ({"computer": "click"}, "VALIDATION_ERROR"),
    ({"frames": 10**9}, "VALIDATION_ERROR"),
    ({"jump": 1}, "VALIDATION_ERROR"),
]


def test_nonsense_is_refused_in_words_and_the_session_goes_on(pong: str) -> None:
    with generic(pong) as env:
        env.reset()
        for action, said in NONSENSE:
            with pytest.raises(RuntimeError, match=said):
                env.step(action)
        assert not env.step({"action": 0}).done


def without_token(address: str) -> str:
    return re.sub("//.*@", "//", address)


def test_who_has_no_token_gets_no_session(pong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = without_token(pong)
    for wrong in (bare, bare.replace("//", "//token:wrong@")):
        with pytest.raises(InvalidStatus, match="HTTP 401"):
            connect(f"{wrong.replace('http', 'ws')}/ws")
    with pytest.raises(InvalidStatus, match="HTTP 403"):
        connect(f"{pong.replace('http', 'ws')}/ws", origin=Origin("http://evil.example"))
    assert httpx.post(f"{bare}/reset").status_code == 401
    assert httpx.get(f"{bare}/health").json() == {"status": "healthy"}
    # In an error the token isn't read.
    monkeypatch.setenv("PLURIVERSE_TOKEN", "a/wrong one")
    with pytest.raises(ConnectionError, match="HTTP 401") as refused, client.PluriverseEnv(base_url=bare).sync():
        pass
    assert "wrong" not in str(refused.value)
    monkeypatch.setenv("PLURIVERSE_TOKEN", urlsplit(pong).password or "")
    with client.PluriverseEnv(base_url=bare).sync() as env:
        assert env.state().environment == PONG


@contextlib.contextmanager
def in_process(idle_s: float, remotes: str = "local:1") -> Generator[TestClient]:
    """A server of sessions whose state can be asked for without any remote."""
    app = server.make_app(PONG, remotes, "127.0.0.1", TOKEN, idle_s=idle_s)
    with TestClient(app, "http://127.0.0.1", headers={"Authorization": f"Bearer {TOKEN}"}) as client:
        yield client


def told(session: Any) -> str:
    session.send_json({"type": "state"})
    answer = session.receive_json()
    return answer["data"].get("code", answer["type"])


def test_a_connection_that_says_nothing_takes_no_session_and_one_too_many_is_told_so() -> None:
    with in_process(DEADLINE_S, "local:2") as client, client.websocket_connect(SESSION) as silent:
        with contextlib.ExitStack() as stack:
            others = [stack.enter_context(client.websocket_connect(SESSION)) for _ in range(3)]
            assert [told(each) for each in others] == ["state", "state", "CAPACITY_REACHED"]
        assert told(silent) == "state"


@pytest.mark.parametrize("begun", [False, True])
def test_a_session_that_is_idle_ends_and_another_can_begin(begun: bool) -> None:
    with in_process(0.2) as client, client.websocket_connect(SESSION) as idle:
        if begun:
            assert told(idle) == "state"
        with pytest.raises(WebSocketDisconnect) as ended:
            idle.receive_json()
        assert (ended.value.code, ended.value.reason) == (server.CLOSED_FOR_IDLENESS, "no message came for 0.2 s")
        with client.websocket_connect(SESSION) as other:
            assert told(other) == "state"


async def test_a_session_without_a_connection_ends_too() -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create"}
    with in_process(0.2) as client:
        assert "session_id" in client.post("/mcp", json=asked).json()["result"]
        assert "error" in client.post("/mcp", json=asked).json()
        # OpenEnv looks every five seconds.
        await eventually(lambda: "result" in client.post("/mcp", json=asked).json())


def test_openenvs_validator_passes_it(pong: str) -> None:
    report = validation.validate_running_environment(pong)
    assert report["passed"], report["summary"]
    told = httpx.get(f"{pong}/metadata").json()
    assert told["name"] == PONG
    assert "lockstep" in told["description"]


@pytest.mark.slow
def test_a_client_that_leaves_is_no_error() -> None:
    with subprocess.Popen(command(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[0]
        leftovers = Leftovers()
        with client.PluriverseEnv(base_url=address).sync() as env:
            env.reset()
        # Once its remote is gone, nothing is left of the session that could be cut off.
        leftovers.assert_none(DEADLINE_S)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=DEADLINE_S)
    assert "Traceback" not in said, said


@pytest.mark.slow
def test_ctrl_c_ends_the_server_though_a_session_waits() -> None:
    leftovers = Leftovers()
    with (
        started(command()) as (process, said),
        connect(f"{said.split()[0].replace('http', 'ws')}/ws") as busy,
    ):
        for kind, data in (("reset", {}), ("step", {"computer": called("wait", seconds=95)})):
            busy.send(json.dumps({"type": kind, "data": data}))
        assert json.loads(busy.recv(timeout=DEADLINE_S))["type"] == "observation"
        process.send_signal(signal.SIGINT)
        process.wait(DEADLINE_S)
    leftovers.assert_none(DEADLINE_S)
