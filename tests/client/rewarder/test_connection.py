import asyncio
import contextlib
import json
import math
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from pluriverse import steady
from pluriverse.endpoint import Endpoint
from pluriverse.errors import ConfigurationError, RemoteUnavailable
from pluriverse.rewarder import connection as module
from pluriverse.rewarder.connection import Credentials, RewarderConnection
from pluriverse_protocol import reports
from pluriverse_protocol.events import KeyEvent
from pluriverse_protocol.messages import Reset
from support.agent import connected
from support.served import PASSWORD, Served, serving
from support.waiting import eventually
from websockets.asyncio.server import ServerConnection, serve
from websockets.http11 import Request, Response

FIRST = "toy.First-v0"


@contextlib.asynccontextmanager
async def opened(port: int, password: str | None = PASSWORD, **options: Any) -> AsyncGenerator[RewarderConnection]:
    credentials = Credentials(Endpoint("127.0.0.1", port, password), **options)
    connection = await RewarderConnection.open(credentials, on_change=lambda: None, timeout_s=5.0)
    try:
        yield connection
    finally:
        await connection.close()


@pytest.fixture
async def served(tmp_path: Path) -> AsyncGenerator[Served]:
    async with serving(tmp_path) as served:
        yield served


async def test_reset_is_granted_and_rewards_come_out_with_their_episode(served: Served) -> None:
    program = await served.running()
    async with opened(served.port) as connection:
        assert connection.described is not None
        assert connection.described.env_id == FIRST
        connection.reset(Reset("toy.Second-v0", seed=5))
        assert connection.pop().episode_id is None
        reset = await program.begin()
        assert (reset.env, reset.seed) == ("toy.Second-v0", 5)
        program.report(reports.Reward(reset.episode, 2.0), reports.Done(reset.episode, 1.0, reason="won"))
        await eventually(lambda: (connection.peek().peek or (0,))[0] == reset.episode + 1)
        popped = connection.pop()
        assert (popped.reward, popped.done, popped.terminated, popped.truncated) == (3.0, True, True, False)
        assert popped.info["reason"] == "won"
        assert popped.info["env_status.reset.episode_id"] == str(reset.episode)
        assert (popped.completed_id, popped.episode_id, popped.env_state) == (
            reset.episode,
            reset.episode + 1,
            "resetting",
        )


async def test_wrong_password_is_told_by_the_remotes_own_words(served: Served) -> None:
    with pytest.raises(RemoteUnavailable, match="password is missing or wrong"):
        async with opened(served.port, "wrong"):
            pass


async def test_no_redirect_is_followed(served: Served) -> None:
    async def redirect(connection: ServerConnection, _: Request) -> Response:
        answer = connection.respond(307, "")
        answer.headers["Location"] = f"ws://127.0.0.1:{served.port}/"
        return answer

    async with serve(lambda _: asyncio.sleep(0), "127.0.0.1", 0, process_request=redirect) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        with pytest.raises(RemoteUnavailable, match="HTTP 307"):
            async with opened(port):
                pass


async def test_what_cannot_be_sent_fails_the_call_and_not_the_connection(served: Served) -> None:
    program = await served.running()
    async with opened(served.port) as connection:
        with pytest.raises(ConfigurationError, match="fps"):
            connection.reset(Reset(FIRST, fps=-1.0))
        with pytest.raises(ConfigurationError, match="seed"):
            connection.reset(Reset(FIRST, seed=1.5))  # pyright: ignore[reportArgumentType]
        with pytest.raises(ConfigurationError, match="can't be sent"):
            connection.act([KeyEvent(math.nan, True)])  # pyright: ignore[reportArgumentType]
        connection.reset(Reset(FIRST, seed=2))
        assert (await program.begin()).seed == 2
        assert connection.error is None


async def test_mistake_in_a_task_is_an_error_of_the_connection(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    await served.running()
    async with opened(served.port) as connection:

        def mistake(*_: object) -> None:
            raise ZeroDivisionError("a slip")

        monkeypatch.setattr(connection, "_dispatch", mistake)
        await eventually(lambda: connection.error)
        assert "a slip" in str(connection.error)


async def test_second_agent_fails_with_the_remotes_own_words(served: Served) -> None:
    await served.running()
    async with connected(served.port, PASSWORD) as first:
        await first.assert_alive()
        async with opened(served.port) as second:
            await eventually(lambda: second.error)
            assert "another agent plays it" in str(second.error)


async def test_agent_that_names_itself_is_refused_at_once_where_another_plays(served: Served) -> None:
    await served.running()
    async with opened(served.port, token="a") as first:
        with pytest.raises(RemoteUnavailable, match=r"another agent plays it.*observer=True.*another remote"):
            async with opened(served.port, token="b"):
                pass
        assert first.error is None


async def test_observer_hears_everything_and_is_no_agent(served: Served) -> None:
    await served.running()
    async with connected(served.port, PASSWORD) as first, opened(served.port, observer=True) as second:
        await first.assert_alive()
        await eventually(lambda: second.round_trips_s)
        assert second.error is None


# ── lines that break ─────────────────────────────────────────────────────────────────────────────────────────────────


async def test_old_servers_line_that_breaks_is_an_error_at_once() -> None:
    async def describe_and_go(socket: ServerConnection) -> None:
        await socket.send(json.dumps(DESCRIBE))
        socket.transport.abort()

    async with misbehaving(describe_and_go) as port, opened(port, token="mine") as connection:
        await eventually(lambda: connection.error)
        assert connection.lost is None


async def test_acknowledgements_ride_on_pings_to_servers_that_keep_seats_only() -> None:
    heard: list[dict[str, Any]] = []

    async def listen(socket: ServerConnection) -> None:
        numbered = {**DESCRIBE, "headers": {**DESCRIBE["headers"], "number": 7}}
        await socket.send(json.dumps(numbered))
        heard.append(json.loads(await socket.recv())["headers"])
        await socket.wait_closed()

    async with misbehaving(listen) as port, opened(port, token="mine"):
        await eventually(lambda: heard)
    assert "last_number" not in heard[0]


# ── remotes that break the rules ─────────────────────────────────────────────────────────────────────────────────────


DESCRIBE: dict[str, Any] = {
    "method": "v0.env.describe",
    "headers": {"message_id": 0, "sent_at": 1.0, "episode_id": "1"},
    "body": {"env_id": FIRST, "env_state": "running", "fps": 60},
}


HEADERS = {"message_id": 1, "sent_at": 1.0, "episode_id": "1"}
CLOSE_WITH_ESCAPES = json.dumps(
    {"method": "v0.connection.close", "headers": HEADERS, "body": {"message": "\x1b[2Jall is well\n"}}
)
INFINITE_REWARD = json.dumps(
    {"method": "v0.env.reward", "headers": HEADERS, "body": {"reward": 1.7e308, "done": False}}
)


@contextlib.asynccontextmanager
async def misbehaving(handler: Callable[[ServerConnection], Awaitable[None]]) -> AsyncGenerator[int]:
    async with serve(handler, "127.0.0.1", 0, ping_interval=None, close_timeout=0.1) as server:
        yield next(iter(server.sockets)).getsockname()[1]


def saying(*messages: str | bytes) -> contextlib.AbstractAsyncContextManager[int]:
    """A remote that says just this."""

    async def speak(socket: ServerConnection) -> None:
        for message in messages:
            await socket.send(message)
        await socket.wait_closed()

    return misbehaving(speak)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("{", "broke the protocol"),
        (b"\x00\x01", "binary frame"),
        (CLOSE_WITH_ESCAPES, r"hung up: \x1b[2Jall is well\n"),
        (INFINITE_REWARD, "add up to infinity"),
        ("x" * (module.MAX_MESSAGE_BYTES + 1), "hung up"),
    ],
)
async def test_remote_that_breaks_the_protocol_is_given_up(said: str | bytes, expected: str) -> None:
    async with saying(json.dumps(DESCRIBE), said, said) as port, opened(port) as connection:
        await eventually(lambda: connection.error)
        assert expected in str(connection.error)


async def test_methods_of_later_versions_are_passed_over() -> None:
    weather = json.dumps({**DESCRIBE, "method": "v0.env.weather"})
    async with saying(weather, json.dumps(DESCRIBE)) as port, opened(port) as connection:
        assert connection.described is not None
        assert connection.error is None


async def test_remote_that_never_says_what_it_is_is_unavailable() -> None:
    async with saying() as port:
        with pytest.raises(RemoteUnavailable, match="silent for"):
            await RewarderConnection.open(
                Credentials(Endpoint("127.0.0.1", port)), on_change=lambda: None, timeout_s=0.2
            )


async def test_agent_without_a_turn_for_long_gives_no_remote_up(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SILENCE_S", 0.3)
    monkeypatch.setattr(module, "PING_S", 0.05)
    await served.running()
    async with opened(served.port) as connection:
        await eventually(lambda: connection.pings > module.FIRST_PINGS)
        time.sleep(0.6)  # noqa: ASYNC251 - nothing has a turn, as where a process is stopped
        pings = connection.pings
        await eventually(lambda: connection.pings > pings + 2)
        assert connection.error is None
        assert connection.lost is None


async def test_remote_that_falls_silent_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SILENCE_S", 0.3)
    monkeypatch.setattr(module, "PING_S", 0.05)
    async with saying(json.dumps(DESCRIBE)) as port, opened(port) as connection:
        await eventually(lambda: connection.error)
        assert "silent for" in str(connection.error)


async def test_old_remotes_pings_without_received_at_are_used() -> None:
    async def answer(socket: ServerConnection) -> None:
        await socket.send(json.dumps(DESCRIBE))
        async for text in socket:
            ping = json.loads(text)
            headers = {"message_id": 1, "sent_at": ping["headers"]["sent_at"] + 100.0, "parent_runtime": 0.0}
            headers["parent_message_id"] = ping["headers"]["message_id"]
            await socket.send(json.dumps({"method": "v0.reply.control.ping", "headers": headers, "body": {}}))

    async with misbehaving(answer) as port, opened(port) as connection:
        await eventually(lambda: connection.round_trips_s)
        skew = connection.clock.skew(0.0)
        assert skew is not None
        assert skew.low <= -99.0
        assert skew.high >= -100.0


@pytest.mark.parametrize("step_s", [3600.0, -3600.0, 5.0])
async def test_remotes_clock_that_is_set_is_noticed_with_its_next_message(
    monkeypatch: pytest.MonkeyPatch, step_s: float
) -> None:
    monkeypatch.setattr(module, "PING_S", 60.0)
    set_by = 0.0
    go_on = asyncio.Event()

    def headers(**more: Any) -> dict[str, Any]:
        return {"message_id": 1, "sent_at": time.time() + set_by, **more}

    async def say(socket: ServerConnection) -> None:
        await socket.send(json.dumps({**DESCRIBE, "headers": headers(episode_id="1")}))

    async def answer(socket: ServerConnection) -> None:
        async for text in socket:
            parent = json.loads(text)["headers"]["message_id"]
            reply = headers(parent_message_id=parent, received_at=time.time() + set_by)
            await socket.send(json.dumps({"method": "v0.reply.control.ping", "headers": reply, "body": {}}))

    async def speak(socket: ServerConnection) -> None:
        await say(socket)
        answering = asyncio.create_task(answer(socket))
        await go_on.wait()
        await say(socket)
        await answering

    def skew(connection: RewarderConnection) -> float:
        skew = connection.clock.skew(steady.now())
        return skew.middle if skew is not None else 0.0

    async with misbehaving(speak) as port, opened(port) as connection:
        await eventually(lambda: connection.pings == module.FIRST_PINGS)
        assert abs(skew(connection)) < 1.0
        set_by = step_s
        go_on.set()
        await eventually(lambda: abs(skew(connection) + step_s) < 1.0)
