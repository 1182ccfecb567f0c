"""A server of OpenEnv's: each session is an environment on a remote of its own."""

from __future__ import annotations

import asyncio
import base64
import contextlib
from dataclasses import replace
from importlib.metadata import version
from typing import Any, Final, cast

from openenv.core.env_server import (  # pyright: ignore[reportMissingTypeStubs]
    Environment,
    create_fastapi_app,  # pyright: ignore[reportUnknownVariableType]
)
from openenv.core.env_server.types import (  # pyright: ignore[reportMissingTypeStubs]
    ConcurrencyConfig,
    EnvironmentMetadata,
)
from pluriverse_protocol.kinds import CLOCKS
from pluriverse_protocol.limits import MAX_SEED
from starlette.websockets import WebSocketDisconnect

from pluriverse import validation
from pluriverse.adapters.computer import Answer, Computer, Tree, calls
from pluriverse.adapters.openenv import PluriverseAction, PluriverseObservation, PluriverseState
from pluriverse.errors import ActionError, ResetNeeded
from pluriverse.remotes.free import Remotes

from .web import guarded

# A session that a client has left open leaves its remote to others after so long.
IDLE_S: Final = 600.0

# As RFC 6455 has it: a policy was violated.
CLOSED_FOR_IDLENESS: Final = 1008

NOTHING: Final = Answer()
DESCRIPTION: Final = "{env_id}, a program with a screen, as pictures, keys and pointer; its clock is {clock}."


class PluriverseEnvironment(Environment[PluriverseAction, PluriverseObservation, PluriverseState]):
    """One session. Its remote is taken at the first reset, and released when it is closed."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, env_id: str, places: Remotes, options: dict[str, Any]) -> None:
        super().__init__()
        self._env_id = env_id
        self._places = places
        self._options = options
        self._place: str | None = None
        self._computer: Computer | None = None
        self._episodes = 0
        self._episode_id: str | None = None

    def reset(self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any) -> PluriverseObservation:
        """Begin an episode; return its first picture."""
        del kwargs
        computer = self._open()
        # OpenEnv's seeds have no limit.
        computer.begin(None if seed is None else seed % (MAX_SEED + 1))
        self._episodes += 1
        self._episode_id = episode_id or str(self._episodes)
        return _observed(computer)

    def step(self, action: PluriverseAction, timeout_s: float | None = None, **kwargs: Any) -> PluriverseObservation:
        del timeout_s, kwargs
        computer = self._computer
        if computer is None:
            raise ResetNeeded("no episode has begun: call reset first")
        answered = _act(computer, action)
        if computer.over or not (action.marks or action.tree):
            return _observed(computer, answered)
        image = computer.look(marks=True) if action.marks else None
        tree = computer.last_tree if action.marks else computer.tree()
        return _observed(computer, replace(answered, image=image or answered.image), tree if action.tree else None)

    @property
    def state(self) -> PluriverseState:
        if self._computer is None:
            return PluriverseState(environment=self._env_id)
        result = self._computer.standing()
        return PluriverseState(
            episode_id=self._episode_id,
            step_count=result.elapsed,
            environment=self._env_id,
            total_reward=self._computer.total_reward,
            terminated=result.terminated,
            truncated=result.truncated,
            lags_ms=result.lags.ms,
        )

    def get_metadata(self) -> EnvironmentMetadata:
        clock = self._options["clock"]
        description = DESCRIPTION.format(env_id=self._env_id, clock=clock)
        return EnvironmentMetadata(name=self._env_id, description=description, version=version("pluriverse"))

    def close(self) -> None:
        """Give the remote back; may be called repeatedly."""
        computer, self._computer = self._computer, None
        place, self._place = self._place, None
        try:
            if computer is not None:
                computer.close()
        finally:
            if place is not None:
                self._places.give_back(place)

    def _open(self) -> Computer:
        if self._computer is None:
            self._place = self._places.take()
            try:
                self._computer = Computer(self._env_id, self._place, **self._options)
            except BaseException:
                self.close()
                raise
        return self._computer


def _act(computer: Computer, action: PluriverseAction) -> Answer:
    if action.computer is None:
        if action.action is None:
            computer.send([], action.frames)
        else:
            computer.act(action.action, action.frames)
        return NOTHING
    if action.action is not None:
        raise ActionError("an action is either in the environment's own space or a computer-use call; got both")
    return computer.do(calls.read(action.computer))


def _observed(computer: Computer, answered: Answer = NOTHING, tree: Tree | None = None) -> PluriverseObservation:
    result = computer.standing()
    image = answered.image or computer.seen()
    return PluriverseObservation(
        image=base64.b64encode(image.data).decode(),
        media_type=cast("Any", image.media_type),
        width=computer.view.width,
        height=computer.view.height,
        text=result.text,
        message=answered.message,
        tree="" if tree is None else tree.text(),
        reward=result.reward,
        done=result.over,
    )


def make_app(env_id: str, remotes: str, host: str, token: str, *, idle_s: float = IDLE_S, **options: Any) -> Any:
    """Return OpenEnv's ASGI application for an environment; ``options`` are those of ``Computer``.

    ``host`` and ``token``: as for ``web.guarded``. A session ends when its client was silent for ``idle_s`` seconds.
    """
    places = Remotes(remotes)
    options = {"clock": "realtime", **options}
    validation.choice("clock", options["clock"], CLOCKS)
    app: Any = create_fastapi_app(
        lambda: PluriverseEnvironment(env_id, places, options),
        PluriverseAction,
        PluriverseObservation,
        # Its limit is of sessions without a connection, which OpenEnv has, too.
        concurrency_config=ConcurrencyConfig(max_concurrent_envs=places.count, session_timeout=idle_s),
    )
    app.add_middleware(_Sessions, idle_s=idle_s)
    return guarded(app, host, token)


class _Sessions:
    """Lets the session of a connection begin with its first message, and end when no more come.

    OpenEnv's server begins it with the connection, and never ends it.
    """

    def __init__(self, app: Any, idle_s: float) -> None:
        self._app = app
        self._idle_s = idle_s

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return

        async def next_message() -> Any:
            try:
                async with asyncio.timeout(self._idle_s):
                    return await receive()
            except TimeoutError:
                why = f"no message came for {self._idle_s:g} s"
                await send({"type": "websocket.close", "code": CLOSED_FOR_IDLENESS, "reason": why})
                return {"type": "websocket.disconnect", "code": CLOSED_FOR_IDLENESS}

        async def answer(message: Any) -> None:
            if message["type"] != "websocket.accept":
                await send(message)

        opening = await receive()
        await send({"type": "websocket.accept"})
        heard = [opening, await next_message()]

        async def hear() -> Any:
            return heard.pop(0) if heard else await next_message()

        # OpenEnv closes the connection of a client that has left, which would be logged as an error each time.
        with contextlib.suppress(WebSocketDisconnect):
            if heard[1]["type"] == "websocket.receive":
                await self._app(scope, hear, answer)
