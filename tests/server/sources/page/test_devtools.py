import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pluriverse_server.sources.page import devtools as devtools_module
from pluriverse_server.sources.page.devtools import (
    END,
    MAX_MESSAGE_BYTES,
    MAX_OUTSTANDING,
    CallFailed,
    CallTimedOut,
    ConnectionLost,
    DevTools,
)
from support.waiting import eventually

Answer = Callable[[dict[str, Any]], list[str]]


class Browser:
    """The other end: answers each command with what a test says."""

    def __init__(self, answer: Answer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.answer = answer
        self.heard: list[dict[str, Any]] = []
        self._reader = reader
        self._writer = writer

    async def serve(self) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            while True:
                command = json.loads((await self._reader.readuntil(END)).removesuffix(END))
                self.heard.append(command)
                for text in self.answer(command):
                    await self.say(text)

    async def say(self, text: str) -> None:
        self._writer.write(text.encode() + END)
        await self._writer.drain()

    async def hang_up(self) -> None:
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()


@asynccontextmanager
async def connected(
    answer: Answer, cpu_wait_s: Callable[[], float] = lambda: 0.0
) -> AsyncGenerator[tuple[DevTools, Browser]]:
    ours, its = socket.socketpair()
    browser = Browser(answer, *await asyncio.open_unix_connection(sock=its))
    serving = asyncio.create_task(browser.serve())
    devtools = await DevTools.connect(ours, cpu_wait_s)
    try:
        yield devtools, browser
    finally:
        await devtools.close()
        await browser.hang_up()
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


def result(command: dict[str, Any]) -> list[str]:
    return [json.dumps({"id": command["id"], "result": {"echo": command}})]


def silence(_: dict[str, Any]) -> list[str]:
    return []


async def test_each_call_gets_its_own_result() -> None:
    async with connected(result) as (devtools, _):
        answers = await asyncio.gather(*(devtools.call("A.b", {"n": n}, "session") for n in range(20)))
        assert [answer["echo"]["params"]["n"] for answer in answers] == list(range(20))
        assert answers[0]["echo"]["sessionId"] == "session"
        assert "sessionId" not in (await devtools.call("A.b"))["echo"]


async def test_call_that_is_not_answered_times_out_and_its_late_answer_is_passed_over() -> None:
    async with connected(silence) as (devtools, browser):
        with pytest.raises(CallTimedOut, match=r"A\.b was not answered within 0\.05 s"):
            await devtools.call("A.b", timeout_s=0.05)
        await browser.say(json.dumps({"id": 1, "result": {}}))
        browser.answer = result
        assert await devtools.call("A.c")


async def test_calls_of_a_session_that_is_forgotten_fail_at_once_and_those_of_others_go_on() -> None:
    async with connected(silence) as (devtools, browser):
        calls = [asyncio.create_task(devtools.call("A.b", session_id=session)) for session in ("one", "two")]
        await eventually(lambda: len(browser.heard) == len(calls))
        devtools.forget("one")
        with pytest.raises(ConnectionLost, match=r"A\.b: the page was closed"):
            await calls[0]
        await browser.say(json.dumps({"id": browser.heard[1]["id"], "result": {"of": "two"}}))
        assert await calls[1] == {"of": "two"}


async def test_events_reach_the_listeners_of_their_session() -> None:
    heard: list[Any] = []
    async with connected(result) as (devtools, browser):
        devtools.listen("one", {"Page.done": heard.append})
        devtools.listen("", {"Page.done": lambda event: heard.append(("browser", event))})
        for session in ({"sessionId": "one"}, {"sessionId": "two"}, {}):
            await browser.say(json.dumps({"method": "Page.done", "params": {"of": len(session)}, **session}))
        await devtools.call("A.b")
        assert heard == [{"of": 1}, ("browser", {"of": 0})]
        devtools.forget("one")
        await browser.say(json.dumps({"method": "Page.done", "params": {}, "sessionId": "one"}))
        await devtools.call("A.b")
        assert len(heard) == 2


async def test_posted_commands_keep_their_order_and_refusals_are_told_where_they_are_waited_for() -> None:
    def refuse(command: dict[str, Any]) -> list[str]:
        return [json.dumps({"id": command["id"], "error": {"code": -1, "message": "no such page"}})]

    async with connected(refuse) as (devtools, browser):
        for n in range(10):
            devtools.post("A.b", {"n": n})
        await eventually(lambda: len(browser.heard) == 10)
        assert [command["params"]["n"] for command in browser.heard] == list(range(10))
        with pytest.raises(CallFailed, match=r"A\.b: no such page"):
            await devtools.call("A.b")


async def test_answer_that_is_too_long_fails_its_call_alone() -> None:
    def answer(command: dict[str, Any]) -> list[str]:
        long = "x" * (2 * MAX_MESSAGE_BYTES) if command["method"] == "A.long" else ""
        return [json.dumps({"id": command["id"], "result": {"of": command["method"], "long": long}})]

    async with connected(answer) as (devtools, _):
        long, short = devtools.call("A.long"), devtools.call("A.short")
        failed, answered = await asyncio.gather(long, short, return_exceptions=True)
        assert isinstance(failed, CallFailed)
        assert "bytes long" in str(failed)
        assert answered == {"of": "A.short", "long": ""}


async def test_calls_that_wait_are_limited() -> None:
    async with connected(silence) as (devtools, _):
        for _ in range(MAX_OUTSTANDING):
            devtools.post("A.b")
        await asyncio.sleep(0)
        with pytest.raises(CallFailed, match="wait for an answer already"):
            await devtools.call("A.c")


@pytest.mark.parametrize(
    "nonsense",
    ["nonsense", "[]", "7", "{}", '{"id": 1}', '{"id": []}', '{"method": "A"}', '{"method": "A.b", "params": 1}',
     '{"id": 1, "error": 7}', "[" * 100_000, "x" * (MAX_MESSAGE_BYTES + 1)],
)  # fmt: skip
async def test_what_no_browser_says_ends_the_connection(nonsense: str) -> None:
    ended: list[str] = []
    async with connected(lambda _: [nonsense]) as (devtools, _):
        devtools.listen("", {"A.b": lambda _: None})
        devtools.on_close(ended.append)
        with pytest.raises((ConnectionLost, CallTimedOut)):
            await devtools.call("A.b", timeout_s=1)
        with pytest.raises(ConnectionLost, match="invalid DevTools message"):
            await devtools.call("A.b", timeout_s=1)
        await eventually(lambda: ended)


async def test_browser_that_goes_fails_the_calls_that_wait_and_those_to_come() -> None:
    async with connected(silence) as (devtools, browser):
        waiting = asyncio.create_task(devtools.call("A.b"))
        await eventually(lambda: browser.heard)
        await browser.hang_up()
        with pytest.raises(ConnectionLost, match=r"A\.b: the browser closed the connection"):
            await waiting
        with pytest.raises(ConnectionLost):
            await devtools.call("A.c")


@pytest.mark.parametrize(("share", "within_s"), [(0.0, (0.2, 0.6)), (1.0, (0.9, 2.0))], ids=["quiet", "busy"])
async def test_time_in_which_the_browser_waits_for_a_cpu_counts_less(
    share: float, within_s: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(devtools_module, "LOOK_S", 0.02)
    loop = asyncio.get_running_loop()
    async with connected(lambda _: [], lambda: loop.time() * share) as (devtools, _):
        began = loop.time()
        with pytest.raises(CallTimedOut, match=r"was not answered within 0\.2 s"):
            await devtools.call("Test.hangs", timeout_s=0.2)
        assert within_s[0] <= loop.time() - began < within_s[1]
