"""A server of the Model Context Protocol: a language model sees an environment, and acts in it, by tools.

Nothing is kept between two calls but the environments themselves: each call names the one that it is for by its handle.
"""

from __future__ import annotations

import base64
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
import numpy as np
from pluriverse_protocol.events import Event, JoystickEvent, KeyEvent, PointerEvent, RelativePointerEvent
from pluriverse_protocol.pads import PLACES
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from pluriverse.adapters.computer import Act, Computer, Image, Tree, Wait, calls
from pluriverse.adapters.computer.acts import MAX_EVENTS, MAX_SECONDS
from pluriverse.adapters.computer.answer import ignoring
from pluriverse.adapters.computer.computer import MAX_FRAMES
from pluriverse.adapters.computer.key_names import key
from pluriverse.adapters.info import Ended, ended
from pluriverse.env.connections import Clock
from pluriverse.errors import ConfigurationError, PluriverseError, ResetNeeded
from pluriverse.rewarder.result import Result
from pluriverse.vnc.keys import key_name

from .computers import Computers
from .mcp_sdk import (
    CallToolResult,
    ContentBlock,
    ImageContent,
    TextContent,
    Tool,
    ToolAnnotations,
    ToolError,
    make_server,
)
from .offered import Offered

Permission = Literal["look", "act", "begin"]
PERMISSIONS: Final[dict[Permission, str]] = {
    "look": "see environments: list and describe them, pictures, rewards",
    "act": "press keys and move the pointer",
    "begin": "begin episodes, on new or idle remotes, and release them",
}

# How often what a model waits for is looked at.
LOOK_S: Final = 0.05

MAX_LISTED: Final = 100

# As fast as people can have it in the viewer.
MAX_SPEED: Final = 16.0

INSTRUCTIONS: Final = (
    "Each environment is a program with a screen. list_environments has their ids; begin_episode begins one, and its "
    "answer has a handle, which every other tool takes. Each answer has the task, the reward, how much of the "
    "environment's own time has passed and remains, and what to call next. With the clock lockstep, the default where "
    "there is one, it is frozen while you think, unless you thaw it; with realtime it keeps running, so don't linger. "
    "Most have a time limit. Coordinates are pixels of the pictures; if the capabilities include marks, look can "
    "number the clickable elements, and you can give a mark's number instead of coordinates."
)

# How an episode ended.
ENDS: Final = {
    # Where nothing else ended it, the evaluation did.
    Ended.NO: "its time was up",
    Ended.OUTCOME: "the environment ended it",
    Ended.TIME_LIMIT: "its time was up",
    Ended.RESET: "another client began another episode",
    Ended.LOST: "its remote was lost",
}

T = TypeVar("T")
Rounded = Annotated[float, AfterValidator(lambda number: round(number, 3))]


class Standing(BaseModel):
    """How an episode stands: what of a ``Result`` models read, of which their tools' schema is made."""

    handle: str = Field(description="which every other tool takes")
    text: str = Field(description="the task, or the environment's latest message")
    reward: Rounded = Field(description="the sum of the rewards since the last answer")
    total_reward: Rounded = Field(description="the sum since the episode began")
    over: bool = Field(description="whether the episode is over")
    terminated: bool = Field(description="whether it was won, lost or solved")
    truncated: bool = Field(description="whether a time limit or a failure cut it off")
    time_left_s: Rounded | None = Field(description="seconds left at most; null: no known limit")
    steps: int = Field(description="frames with an action")
    frames: int = Field(description="frames of the environment's time since the last answer")
    seconds: Rounded = Field(description="seconds of the environment's time since the last answer")
    frozen: bool = Field(description="whether it stands still until the next call")
    held: list[str] = Field(description="keys and buttons that are held until another call releases them")
    lags_ms: dict[str, tuple[Rounded, Rounded]] = Field(
        description="bounds of the lags of observation, action and reward, in milliseconds; empty in lockstep"
    )
    ignored: list[str] = Field(default=[], description="keys that were pressed and that the environment doesn't use")
    frames_ms: list[Rounded] = Field(
        default=[], description="for act_for: the time of each picture, in milliseconds after its beginning"
    )


class Described(BaseModel):
    """What an environment is, once an episode of it was begun."""

    handle: str = Field(description="which every other tool takes")
    environment: str = Field(description="its id")
    clock: str = Field(description="realtime, or lockstep: it is paused while you think")
    width: int = Field(description="of the pictures, in pixels")
    height: int = Field(description="of the pictures, in pixels")
    fps: Rounded = Field(description="frames per second of the environment's time")
    time_limit_s: Rounded | None = Field(description="the longest an episode can take; null: no known limit")
    keys: list[str] = Field(description="the keys that have an effect; empty: possibly any")
    pointer: bool = Field(description="whether the pointer has an effect")
    relative: bool = Field(description="whether it is the pointer's movement that has: dx and dy in act_for")
    pads: int = Field(description="how many gamepads have an effect, in act_for")
    submit: bool = Field(description="whether the episode is graded once you call submit")
    capabilities: list[str] = Field(description="of the remote; with tree and marks, look can describe the screen")
    text: str = Field(description="the task, or the environment's latest message")


Handle = Annotated[str, Field(description="of an environment, from the answer of begin_episode", max_length=64)]
Seen = Annotated[CallToolResult, Standing]


class TimedEvent(BaseModel):
    """At its time, a key that goes down or up, the pointer that is at a place or moves, or an input of a gamepad."""

    model_config = ConfigDict(extra="forbid")

    ms: float = Field(ge=0, le=1000 * MAX_SECONDS, description="after the beginning")
    key: str | None = Field(default=None, max_length=40, description="such as Up or a; null for the pointer")
    down: bool = Field(default=True, description="whether the key goes down; false: up")
    x: int | None = Field(default=None, description="where the pointer is, in pixels from the picture's left edge")
    y: int | None = Field(default=None, description="and in pixels from its top edge")
    dx: int | None = Field(default=None, description="how far the pointer moves to the right, where it is relative")
    dy: int | None = Field(default=None, description="and how far down")
    buttons: int = Field(default=0, ge=0, le=255, description="held buttons: the sum of 1 left, 2 middle, 4 right")
    pad: str | None = Field(
        default=None,
        max_length=40,
        description="an axis or button of a gamepad, such as AxisX and Button0; of the second one 2AxisX and 2Button0",
    )
    value: float = Field(default=0.0, ge=-1, le=1, description="of the gamepad's axis or button")

    def event(self) -> Event:
        if self.key is not None:
            return KeyEvent(key(self.key), self.down)
        if self.pad is not None:
            if (name := f"Joystick{self.pad}Event") not in PLACES:
                raise ToolError(f"{self.pad!r} is no input of a gamepad; expected AxisX to AxisRz, Button0 to Button15")
            return JoystickEvent(name, self.value)
        if self.dx is not None and self.dy is not None:
            return RelativePointerEvent(self.dx, self.dy, self.buttons)
        if self.x is None or self.y is None:
            raise ToolError("each event needs a key, a pad, x and y, or dx and dy")
        return PointerEvent(self.x, self.y, self.buttons)


class Server:
    """The tools, for ``computers`` of the environments that are ``offered``."""

    def __init__(self, computers: Computers, offered: Offered, allowed: Sequence[str]) -> None:
        """``allowed``: permissions; tools of others aren't there."""
        unknown = set(allowed) - PERMISSIONS.keys()
        if unknown or not allowed:
            known = "; ".join(f"{name} ({what})" for name, what in PERMISSIONS.items())
            what = f"unknown permission {min(unknown)!r}" if unknown else "nothing is allowed"
            raise ConfigurationError(f"{what}; give --allow one or more of: {known}")
        self._computers = computers
        self._offered = offered
        self._allowed = frozenset(allowed)
        tools = [
            _strict(tool, _hints(permission))
            for permission, tools in self._tools().items()
            if permission in allowed
            for tool in tools
        ]
        self.server = make_server("pluriverse", importlib.metadata.version("pluriverse"), INSTRUCTIONS, tools)

    def _tools(self) -> dict[Permission, tuple[Callable[..., Awaitable[Any]], ...]]:
        act = (*map(self._acting, calls.ACTING), self.act_for, self.freeze, self.thaw)
        look = (self.list_environments, self.describe_environment, self.look, self.status, self.wait_until)
        return {"look": look, "act": act, "begin": (self.begin_episode, self.release)}

    # ── environments ────────────────────────────────────────────────────────────────────────────────────────────────

    async def list_environments(
        self, containing: Annotated[str, Field(description="list only ids that contain this; empty: all")] = ""
    ) -> CallToolResult:
        """List the ids of the environments that you may begin, at most a hundred."""
        ids = [env_id for env_id in self._offered.ids if containing.casefold() in env_id.casefold()]
        if not ids:
            return _answer(f"No ids are known. You may begin those that match: {', '.join(self._offered.patterns)}")
        lines = [f"{len(ids)} environment{'s' if len(ids) > 1 else ''} available.", *ids[:MAX_LISTED]]
        if len(ids) > MAX_LISTED:
            lines[0] += f" These are the first {MAX_LISTED}; list others by part of their id, with containing."
        return _answer("\n".join([*lines, "Next: begin_episode with one of them."]))

    async def describe_environment(self, handle: Handle) -> Annotated[CallToolResult, Described]:
        """Describe an environment: the size of its pictures, the keys that have an effect, its text."""

        def describe(computer: Computer) -> CallToolResult:
            said = computer.described
            computer.refresh()
            keys = [] if said.spaces is None else [key_name(key) for key in said.spaces.keyboard]
            described = Described(
                handle=handle,
                environment=said.env_id or "",
                clock=computer.clock,
                width=computer.view.width,
                height=computer.view.height,
                fps=said.fps,
                time_limit_s=said.time_limit,
                keys=keys,
                pointer=said.spaces is None or said.spaces.pointer or not (keys or said.spaces.pads),
                relative=said.spaces is not None and said.spaces.relative,
                pads=said.spaces.pads if said.spaces is not None else 0,
                submit=computer.actions.submit,
                capabilities=list(said.capabilities or ()),
                text=computer.text,
            )
            return _answer(_described(described), described)

        return await self._do(handle, describe)

    async def begin_episode(
        self,
        environment: Annotated[str, Field(description="its id, from list_environments", max_length=200)] = "",
        handle: Annotated[
            str, Field(description="of an open environment, to begin another episode or to replace it")
        ] = "",
        seed: Annotated[int | None, Field(ge=0, description="the same seed begins the same episode")] = None,
        clock: Annotated[
            Clock | None, Field(description="lockstep: it is paused while you think; null: as before, or the server's")
        ] = None,
        options: Annotated[
            dict[str, Any] | None, Field(description='the environment\'s, such as {"level": 3}; null: as before')
        ] = None,
    ) -> Seen:
        """Begin an episode of an environment; the answer has its handle.

        With the handle of one that is open, begin another episode of it, or of the environment in its place.
        """

        def begin(computer: Computer) -> None:
            self._computers.stop(handle)
            computer.begin(seed, env=environment or None, options=options, clock=clock)

        if environment or not handle:
            self._offered.require(environment)
        if not handle:
            handle = await _in_thread(self._computers.open, environment or None)
            try:
                return await self._seen(handle, begin)
            except BaseException:
                # Its handle is unknown.
                with anyio.CancelScope(shield=True):
                    await _in_thread(self._computers.close, handle)
                raise
        if environment:
            await _in_thread(self._computers.change, handle, environment)
        return await self._seen(handle, begin)

    async def freeze(self, handle: Handle) -> Seen:
        """Let an environment in lockstep stand still again between your calls, after thaw."""
        await _in_thread(self._computers.freeze, handle)
        return await self._seen(handle, Computer.refresh)

    async def thaw(
        self,
        handle: Handle,
        speed: Annotated[float, Field(gt=0, le=MAX_SPEED, description="times as fast as its own time")] = 1.0,
    ) -> Seen:
        """Let an environment in lockstep go on by itself while you think, until freeze or its end."""
        await _in_thread(self._computers.thaw, handle, speed)
        return await self._seen(handle, Computer.refresh)

    async def release(self, handle: Handle) -> CallToolResult:
        """Release an environment, so that another can be begun in its place."""
        await _in_thread(self._computers.close, handle)
        return _answer(f"The environment of handle {handle} was released. Next: begin_episode, if you want another.")

    # ── looking ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def look(
        self,
        handle: Handle,
        region: calls.Region = None,
        format: Annotated[  # noqa: A002 - what models know it by
            Literal["png", "jpeg"] | None, Field(description="of the picture; null: the server's")
        ] = None,
        marks: Annotated[
            bool,
            Field(description="draw a numbered box around each interactive element, if capabilities include marks"),
        ] = False,
        tree: Annotated[bool, Field(description="describe the screen in words, if capabilities include tree")] = False,
    ) -> Seen:
        """Look at the current screen. The numbers of marks can be clicked until new marks are drawn."""

        def look(computer: Computer) -> CallToolResult:
            image = computer.look(region, format=format, marks=marks)
            seen = (computer.last_tree if marks else computer.tree()) if tree else None
            return self._result(handle, computer, [image], tree=seen)

        return await self._do(handle, look)

    async def status(self, handle: Handle) -> Seen:
        """Return the reward, the remaining time, whether the episode is over, and all lags; without a picture."""

        def say(computer: Computer) -> CallToolResult:
            computer.refresh()
            return self._result(handle, computer, [])

        return await self._do(handle, say)

    async def wait_until(
        self,
        handle: Handle,
        what: Annotated[Literal["reward", "change"], Field(description="a reward, or a change of the picture")],
        seconds: Annotated[float, Field(ge=0, le=MAX_SECONDS, description="at most")] = 10.0,
    ) -> Seen:
        """Wait until there is a reward, the picture changes, or the episode ends."""
        return await self._do(handle, lambda computer: self._wait(handle, computer, what, seconds))

    # ── acting ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def act_for(
        self,
        handle: Handle,
        events: Annotated[list[TimedEvent], Field(max_length=MAX_EVENTS, description="what to do, and when")],
        ms: Annotated[float, Field(ge=0, le=1000 * MAX_SECONDS, description="the total duration")],
        unit: Annotated[Literal["ms", "frames"], Field(description="of ms, here and in events")] = "ms",
        frames: Annotated[int, Field(ge=1, le=MAX_FRAMES, description="how many pictures to return")] = 1,
    ) -> Seen:
        """Press and release keys, move the pointer, use gamepads, each at its time; returns pictures and their times.

        A gamepad's sticks are AxisX, AxisY and AxisRx, AxisRy, from -1 (left, up) to 1, its triggers AxisZ and AxisRz
        from 0 to 1.
        """

        def act(computer: Computer) -> CallToolResult:
            unit_ms = computer.frame_ms if unit == "frames" else 1.0
            timed = [(each.ms * unit_ms, each.event()) for each in events]
            seen = computer.act_for(timed, ms * unit_ms, frames=frames)
            images, times = [frame.image for frame in seen], [frame.at_ms for frame in seen]
            return self._result(handle, computer, images, times, ignored=computer.ignored)

        return await self._do(handle, act)

    # ────────────────────────────────────────────────────────────────────────────────────────────────────────────────

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
            return self._result(handle, computer, [computer.seen()], ignored=computer.ignored)

        return await self._do(handle, act)

    async def _do(self, handle: str, action: Callable[[Computer], T]) -> T:
        # Who hangs up, or ends the server, doesn't wait for the end of an act; it breaks off by itself.
        given_up = threading.Event()
        try:
            return await _in_thread(self._computers.do, handle, action, given_up, abandon_on_cancel=True)
        except ResetNeeded as error:
            raise ToolError(f"Nothing was done: the episode is over. {self._next(handle, over=True)}") from error
        finally:
            given_up.set()

    def _wait(self, handle: str, computer: Computer, what: str, seconds: float) -> CallToolResult:
        """Wait by the environment's own time in lockstep, else by ours."""
        began, passed = time.monotonic(), 0.0
        first = computer.look()
        earned = computer.total_reward
        picture = first
        while passed < seconds and not computer.over:
            computer.do(Wait(LOOK_S))
            passed = passed + LOOK_S if computer.clock == "lockstep" else time.monotonic() - began
            picture = computer.seen()
            if what == "change" and not np.array_equal(picture.pixels, first.pixels):
                break
            if what == "reward" and computer.total_reward != earned:
                break
        return self._result(handle, computer, [picture])

    def _result(
        self,
        handle: str,
        computer: Computer,
        images: Sequence[Image],
        times: Sequence[float] = (),
        tree: Tree | None = None,
        ignored: Sequence[str] = (),
    ) -> CallToolResult:
        result, passed_s, frozen = computer.standing(), computer.take_passed_s(), self._computers.is_frozen(handle)
        frames_passed = round(1000 * passed_s / computer.frame_ms)
        standing = Standing(
            handle=handle,
            text=result.text,
            reward=result.reward,
            total_reward=computer.total_reward,
            over=computer.over,
            terminated=result.terminated,
            truncated=result.truncated,
            time_left_s=computer.time_left_s,
            steps=result.elapsed,
            frames=frames_passed,
            seconds=passed_s,
            frozen=frozen,
            held=computer.held,
            lags_ms=result.lags.ms,
            ignored=list(ignored),
            frames_ms=list(times),
        )
        lines = [f"Task: {result.text}"] if result.text else []
        lines.append(
            f"Reward: {_number(result.reward)} since the last answer, {_number(standing.total_reward)} in all."
        )
        held = f" Held: {', '.join(standing.held)}." if standing.held else ""
        lines += [f"{frames_passed} frames passed, {_number(passed_s)} s.{held}", _time(computer, result, frozen)]
        if times:
            lines.append(
                f"The pictures were taken {', '.join(map(_number, standing.frames_ms))} ms after the beginning."
            )
        if ignored:
            lines.append(ignoring(ignored))
        if tree is not None:
            lines.append(f"On the screen, with [n] before each marked element:\n{tree.text()}")
        lines.append(self._next(handle, over=standing.over))
        return _answer("\n".join(lines), standing, images)

    def _next(self, handle: str, *, over: bool) -> str:
        if over:
            again = f"begin_episode with handle {handle} for another episode, or release it"
            return f"Next: {again if 'begin' in self._allowed else 'nothing; no tool begins another'}."
        act = "click, type_text, press_keys or another tool that acts" if "act" in self._allowed else "look"
        return f"Next: {act}, with handle {handle}."


async def _in_thread(function: Callable[..., T], *arguments: Any, abandon_on_cancel: bool = False) -> T:
    """Run what blocks. The calls on each computer are limited, so that no client takes the threads of others."""
    limiter = anyio.CapacityLimiter(math.inf)
    return await anyio.to_thread.run_sync(function, *arguments, abandon_on_cancel=abandon_on_cancel, limiter=limiter)


def _answer(told: str, facts: BaseModel | None = None, images: Sequence[Image] = ()) -> CallToolResult:
    """Return the text for models, with pictures, and the structured content for programs."""
    content: list[ContentBlock] = [
        ImageContent.model_validate(
            {"type": "image", "data": base64.b64encode(image.data).decode(), "mimeType": image.media_type}
        )
        for image in images
    ]
    content.append(TextContent(type="text", text=told))
    structured = None if facts is None else facts.model_dump()
    return CallToolResult.model_validate({"content": content, "structuredContent": structured})


def _time(computer: Computer, result: Result, frozen: bool) -> str:
    if computer.over:
        reason = result.info.get("reason")
        why = ENDS.get(ended(result), "it was cut off") + (f" ({reason})" if isinstance(reason, str) else "")
        return f"The episode is over: {why}."
    left_s = computer.time_left_s
    left = "" if left_s is None else f", with at most {left_s:.1f} s left"
    if frozen:
        return f"The episode is paused while you think{left if left_s is None else f'{left} of its own time'}."
    return f"The episode keeps running while you think{left}."


def _described(described: Described) -> str:
    limit = described.time_limit_s
    use = [f"the keys {' '.join(described.keys)}"] if described.keys else [] if described.pads else ["any key"]
    use += ["the pointer's movements"] if described.relative else ["the pointer"] if described.pointer else []
    use += [f"{described.pads} gamepad{'s' if described.pads > 1 else ''}"] if described.pads else []
    thinking = "is paused" if described.clock == "lockstep" else "keeps running"
    lines = [
        f"{described.environment}: pictures of {described.width} by {described.height} pixels, "
        f"{_number(described.fps)} per second; it {thinking} while you think.",
        "No known time limit." if limit is None else f"An episode takes at most {_number(limit)} s.",
        f"It uses {' and '.join(use)}.",
    ]
    if "marks" in described.capabilities:
        lines.append("look can draw marks and return a tree of the screen.")
    if described.submit:
        lines.append("Call submit when you are done: the episode ends, and is graded as it is then.")
    return "\n".join([*lines, *([f"Task: {described.text}"] if described.text else [])])


def _number(number: float) -> str:
    """Return a number with three decimals at most."""
    return f"{number:z.3f}".rstrip("0").rstrip(".")


def _hints(permission: Permission) -> ToolAnnotations:
    return ToolAnnotations.model_validate({"readOnlyHint": permission == "look", "openWorldHint": False})


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
