"""A server of the Model Context Protocol: a language model sees an environment, and acts in it, by tools.

Nothing is kept between two calls but the environments themselves: each call names the one that it is for by its handle.
"""

from __future__ import annotations

import base64
import fnmatch
import functools
import importlib.metadata
import inspect
import math
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Final, Literal, TypeVar

import anyio
import anyio.to_thread
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, ContentBlock, ImageContent, TextContent, ToolAnnotations
from pluriverse_protocol.events import KeyEvent, PointerEvent
from pydantic import BaseModel, ConfigDict, Field

from pluriverse import catalogue
from pluriverse.adapters.computer import Act, Computer, Image, Tree, Wait, calls
from pluriverse.adapters.computer.acts import MAX_EVENTS, MAX_SECONDS
from pluriverse.adapters.computer.computer import MAX_FRAMES
from pluriverse.adapters.computer.key_names import key
from pluriverse.errors import ConfigurationError, PluriverseError
from pluriverse.vnc.keys import key_name

from .computers import MAX_CALLS, Busy, Computers

Permission = Literal["look", "act", "begin"]
PERMISSIONS: Final[dict[Permission, str]] = {
    "look": "see environments: list and describe them, pictures, rewards",
    "act": "press keys and move the pointer",
    "begin": "begin episodes, on remotes that are started or taken for it, and give them back",
}

# How often what a model waits for is looked at.
LOOK_S: Final = 0.05

MAX_LISTED: Final = 100

INSTRUCTIONS: Final = (
    "Each environment is a program with a screen, and goes on while you think unless its clock is lockstep. "
    "begin_episode returns a handle, which every other tool takes. Coordinates are pixels of the pictures that you are "
    "given; where the capabilities have marks, look can number what is to be clicked, for you to name instead. Every "
    "answer says what was earned since the last one, and whether the episode is over; then begin another."
)

T = TypeVar("T")


class Standing(BaseModel):
    """How an episode stands: what of a ``Result`` models read, of which their tools' schema is made."""

    handle: str
    reward: float = Field(description="what was earned since the last answer")
    total: float = Field(description="what was earned since the episode began")
    done: bool = Field(description="whether the episode is over")
    terminated: bool
    truncated: bool
    steps: int = Field(description="frames that were acted in")
    text: str = Field(description="the environment's latest text, such as a task")
    lags_ms: dict[str, tuple[float, float]] = Field(description="bounds of lags, in milliseconds; empty in lockstep")
    tree: str = Field(
        default="", description="what is on the screen, where it was asked for; [n] before what has a mark"
    )
    frames_ms: list[float] = Field(default=[], description="when each picture was, after the beginning of the call")


class Listed(BaseModel):
    environments: list[str]
    left_out: int = Field(description="how many more match")


class Described(BaseModel):
    """What an environment is, once an episode of it was begun."""

    handle: str
    environment: str
    clock: str
    width: int = Field(description="of the pictures, in pixels")
    height: int
    fps: float
    keys: list[str] = Field(description="the keys that mean something; empty: any may")
    pointer: bool = Field(description="whether the pointer means something")
    capabilities: list[str] = Field(
        description="of the remote; with tree and marks, look can tell what is on the screen"
    )
    text: str


class Released(BaseModel):
    """An environment that was given back."""

    handle: str


Handle = Annotated[str, Field(description="of an environment, as begin_episode said it", max_length=64)]
Seen = Annotated[CallToolResult, Standing]


class TimedEvent(BaseModel):
    """A key that goes down or up, or the pointer that is at a place with some buttons held, at its time."""

    model_config = ConfigDict(extra="forbid")

    ms: float = Field(ge=0, le=1000 * MAX_SECONDS, description="after the beginning")
    key: str | None = Field(default=None, max_length=40)
    down: bool = True
    x: int | None = None
    y: int | None = None
    buttons: int = Field(default=0, ge=0, le=255, description="1 left, 2 middle, 4 right, added up")

    def event(self) -> KeyEvent | PointerEvent:
        if self.key is not None:
            return KeyEvent(key(self.key), self.down)
        if self.x is None or self.y is None:
            raise ToolError("each event needs a key, or x and y")
        return PointerEvent(self.x, self.y, self.buttons)


class Server:
    """The tools, for ``computers`` of the environments whose ids match one of ``environments``."""

    def __init__(
        self,
        computers: Computers,
        environments: Sequence[str],
        allowed: Sequence[str],
    ) -> None:
        """``allowed``: permissions; tools of others aren't there."""
        unknown = set(allowed) - PERMISSIONS.keys()
        if unknown or not allowed:
            known = "; ".join(f"{name} ({what})" for name, what in PERMISSIONS.items())
            what = f"there is no permission {min(unknown)!r}" if unknown else "nothing is allowed"
            raise ConfigurationError(f"{what}; give --allow one or more of: {known}")
        self._computers = computers
        self._environments = tuple(environments)
        self._lists = threading.Semaphore(MAX_CALLS)
        tools = [
            _strict(tool, ToolAnnotations(read_only_hint=permission == "look", open_world_hint=False))
            for permission, tools in self._tools().items()
            if permission in allowed
            for tool in tools
        ]
        self.server: MCPServer[Any] = MCPServer(
            "pluriverse",
            version=importlib.metadata.version("pluriverse"),
            instructions=INSTRUCTIONS,
            log_level="WARNING",
            tools=tools,
        )

    def _tools(self) -> dict[Permission, tuple[Callable[..., Awaitable[Any]], ...]]:
        act = (*map(self._acting, calls.ACTING), self.act_for)
        look = (self.list_environments, self.describe_environment, self.look, self.status, self.wait_until)
        return {"look": look, "act": act, "begin": (self.begin_episode, self.release)}

    # ── environments ────────────────────────────────────────────────────────────────────────────────────────────────

    async def list_environments(self, containing: str = "") -> Listed:
        """List environments that may be begun, of those whose id contains a text."""
        if not self._lists.acquire(blocking=False):
            raise Busy(f"{MAX_CALLS} lists of environments are being made; wait for them")
        try:
            listed = await _in_thread(catalogue.environments)
        finally:
            self._lists.release()
        names = [entry["id"] for entry in listed if containing in entry["id"] and self._may_begin(entry["id"])]
        return Listed(environments=names[:MAX_LISTED], left_out=max(0, len(names) - MAX_LISTED))

    async def describe_environment(self, handle: Handle) -> Described:
        """Say what an environment is: the size of its pictures, the keys that mean something, its text."""

        def describe(computer: Computer) -> Described:
            said = computer.described
            computer.refresh()
            keys = [] if said.spaces is None else [key_name(key) for key in said.spaces.keyboard]
            return Described(
                handle=handle,
                environment=said.env_id or "",
                clock=computer.clock,
                width=computer.view.width,
                height=computer.view.height,
                fps=said.fps,
                keys=keys,
                pointer=said.spaces is None or said.spaces.pointer or not keys,
                capabilities=list(said.capabilities or ()),
                text=computer.text,
            )

        return await self._do(handle, describe)

    async def begin_episode(
        self,
        environment: Annotated[str, Field(description="its id", max_length=200)] = "",
        handle: Annotated[str, Field(description="of one that is open, for another episode of it")] = "",
        seed: Annotated[int | None, Field(ge=0)] = None,
    ) -> Seen:
        """Begin an episode of an environment, or another one of one that is open; the answer has the handle."""
        if handle:
            return await self._seen(handle, lambda computer: computer.begin(seed))
        if not self._may_begin(environment):
            allowed = ", ".join(self._environments) or "none"
            raise ToolError(f"the environment {environment!r} may not be begun; allowed are: {allowed}")
        handle = await _in_thread(self._computers.open, environment or None)
        try:
            return await self._seen(handle, lambda computer: computer.begin(seed))
        except BaseException:
            # Nobody knows its handle.
            with anyio.CancelScope(shield=True):
                await _in_thread(self._computers.close, handle)
            raise

    async def release(self, handle: Handle) -> Released:
        """Give an environment back, so that another can be begun in its place."""
        await _in_thread(self._computers.close, handle)
        return Released(handle=handle)

    # ── looking ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def look(
        self,
        handle: Handle,
        region: calls.Region = None,
        format: Literal["png", "jpeg"] | None = None,  # noqa: A002 - what models know it by
        marks: Annotated[bool, Field(description="draw a numbered box around all that is acted on")] = False,
        tree: Annotated[bool, Field(description="tell what is on the screen, in words")] = False,
    ) -> Seen:
        """Look at the screen as it is now. The numbers of marks may then be clicked on, until the next are given."""

        def look(computer: Computer) -> CallToolResult:
            image = computer.look(region, format=format, marks=marks)
            seen = (computer.last_tree if marks else computer.tree()) if tree else None
            return _result(handle, computer, [image], tree=seen)

        return await self._do(handle, look)

    async def status(self, handle: Handle) -> Seen:
        """Say what was earned, whether the episode is over, and how late everything is; without a picture."""

        def say(computer: Computer) -> CallToolResult:
            computer.refresh()
            return _result(handle, computer, [])

        return await self._do(handle, say)

    async def wait_until(
        self,
        handle: Handle,
        what: Annotated[Literal["reward", "change"], Field(description="a reward, or a change of the picture")],
        seconds: Annotated[float, Field(ge=0, le=MAX_SECONDS, description="at most")] = 10.0,
    ) -> Seen:
        """Wait until something is earned, the picture changes, or the episode ends."""
        return await self._do(handle, lambda computer: self._wait(handle, computer, what, seconds))

    # ── acting ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def act_for(
        self,
        handle: Handle,
        events: Annotated[list[TimedEvent], Field(max_length=MAX_EVENTS)],
        ms: Annotated[float, Field(ge=0, le=1000 * MAX_SECONDS, description="how long all takes")],
        frames: Annotated[int, Field(ge=1, le=MAX_FRAMES, description="how many pictures of it to see")] = 1,
    ) -> Seen:
        """Press and release keys, and move the pointer, each at its time; answers with pictures and their times."""

        def act(computer: Computer) -> CallToolResult:
            seen = computer.act_for([(each.ms, each.event()) for each in events], ms, frames=frames)
            return _result(handle, computer, [frame.image for frame in seen], [frame.at_ms for frame in seen])

        return await self._do(handle, act)

    # ────────────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _may_begin(self, environment: str) -> bool:
        return any(fnmatch.fnmatchcase(environment, pattern) for pattern in self._environments)

    def _acting(self, call: Callable[..., Act]) -> Callable[..., Awaitable[Any]]:
        """Return the tool that does what ``call`` returns, whose arguments it takes after the handle."""

        @functools.wraps(call)
        async def act(handle: str, **arguments: Any) -> CallToolResult:
            return await self._seen(handle, lambda computer: computer.do(call(**arguments)))

        signature = inspect.signature(call, eval_str=True)
        handle = inspect.Parameter("handle", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Handle)
        parameters = [handle, *signature.parameters.values()]
        act.__signature__ = signature.replace(parameters=parameters, return_annotation=Seen)  # type: ignore[attr-defined]
        return act

    async def _seen(self, handle: str, action: Callable[[Computer], object]) -> CallToolResult:
        def act(computer: Computer) -> CallToolResult:
            action(computer)
            return _result(handle, computer, [computer.seen()])

        return await self._do(handle, act)

    async def _do(self, handle: str, action: Callable[[Computer], T]) -> T:
        # Who hangs up, or ends the server, doesn't wait for the end of an act; it breaks off by itself.
        given_up = threading.Event()
        try:
            return await _in_thread(self._computers.do, handle, action, given_up, abandon_on_cancel=True)
        finally:
            given_up.set()

    def _wait(self, handle: str, computer: Computer, what: str, seconds: float) -> CallToolResult:
        """Wait by the environment's own time in lockstep, else by ours."""
        began, passed = time.monotonic(), 0.0
        first = computer.look()
        earned = computer.earned
        picture = first
        while passed < seconds and not computer.over:
            computer.do(Wait(LOOK_S))
            passed = passed + LOOK_S if computer.clock == "lockstep" else time.monotonic() - began
            picture = computer.seen()
            if computer.earned != earned if what == "reward" else picture.data != first.data:
                break
        return _result(handle, computer, [picture])


async def _in_thread(function: Callable[..., T], *arguments: Any, abandon_on_cancel: bool = False) -> T:
    """Run what blocks. The calls on each computer are limited, so that no client takes the threads of others."""
    limiter = anyio.CapacityLimiter(math.inf)
    return await anyio.to_thread.run_sync(function, *arguments, abandon_on_cancel=abandon_on_cancel, limiter=limiter)


def _result(
    handle: str,
    computer: Computer,
    images: Sequence[Image],
    times: Sequence[float] = (),
    tree: Tree | None = None,
) -> CallToolResult:
    result = computer.standing()
    standing = Standing(
        handle=handle,
        reward=result.reward,
        total=computer.earned,
        done=result.over,
        terminated=result.terminated,
        truncated=result.truncated,
        steps=result.elapsed,
        text=result.text,
        lags_ms=result.lags.ms,
        tree="" if tree is None else tree.text(),
        frames_ms=list(times),
    )
    content: list[ContentBlock] = [
        ImageContent(type="image", data=base64.b64encode(image.data).decode(), mime_type=image.media_type)
        for image in images
    ]
    content.append(TextContent(type="text", text=standing.model_dump_json()))
    return CallToolResult(content=content, structured_content=standing.model_dump())


def _strict(function: Callable[..., Awaitable[Any]], hints: ToolAnnotations) -> Tool:
    """Make a tool that refuses arguments which it doesn't have, where it would leave them out."""
    tool = Tool.from_function(_refusing(function), annotations=hints)
    model = tool.fn_metadata.arg_model
    model.model_config["extra"] = "forbid"
    model.model_rebuild(force=True)
    tool.parameters = model.model_json_schema(by_alias=True)
    return tool


def _refusing(tool: Callable[..., Awaitable[T]]) -> Callable[..., Awaitable[T]]:
    """What goes wrong with an environment is for the model to read."""

    @functools.wraps(tool)
    async def call(*arguments: Any, **named: Any) -> T:
        try:
            return await tool(*arguments, **named)
        except PluriverseError as error:
            raise ToolError(str(error)) from error

    return call
