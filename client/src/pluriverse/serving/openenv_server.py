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
from pluriverse.adapters.computer import Answer, Computer, calls
from pluriverse.adapters.openenv import PluriverseAction, PluriverseObservation, PluriverseState
from pluriverse.errors import ActionError, ConfigurationError, ResetNeeded
from pluriverse.remotes.free import Remotes
from pluriverse.runtimes import listed, named, runtime_of

from .offered import Offered
from .web import guarded

# A session that a client has left open leaves its remote to others after so long.
IDLE_S: Final = 600.0

# OpenEnv lets a session begin while the remote of one that has ended is still being stopped.
CLOSING_S: Final = 30.0

# As RFC 6455 has it: a policy was violated.
CLOSED_FOR_IDLENESS: Final = 1008

NOTHING: Final = Answer()
DESCRIPTION: Final = "{name}: programs with a screen, as pictures, keys and pointer; their clock is {clock}."

# The seeds of each environment that are of a split. Any other may be given to reset.
SEEDS: Final = {"train": range(100, 10_100), "test": range(100)}
# A list of all tasks is cut to so many; their number isn't.
MAX_LISTED: Final = 1000


class Tasks:
    """OpenEnv's tasks: of each environment of a split as many seeds as that has; neighbours are of different ones.

    An environment that says no split is of both, with other seeds.
    """

    def __init__(self, env_ids: list[str]) -> None:
        self.env_ids = env_ids
        said = listed() | named()
        self.splits: dict[str, list[str]] = {
            split: ids for split in SEEDS if (ids := [each for each in env_ids if said.get(each) in (None, "", split)])
        }

    def num_tasks(self, split: str) -> int:
        if split not in self.splits:
            raise IndexError(f"there is no split {split!r:.40}; expected {' or '.join(self.splits)}")
        return len(self.splits[split]) * len(SEEDS[split])

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        if not 0 <= index < self.num_tasks(split):
            raise IndexError(f"task {index} of {split!r}; expected 0 to {self.num_tasks(split) - 1}")
        seed, number = divmod(index, len(self.splits[split]))
        return {"index": index, "environment": self.splits[split][number], "seed": SEEDS[split][seed]}


class PluriverseEnvironment(Environment[PluriverseAction, PluriverseObservation, PluriverseState]):
    """One session. Its remote is taken at the first reset, and released when it is closed."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, name: str, tasks: Tasks, places: Remotes, options: dict[str, Any]) -> None:
        super().__init__()
        self._name = name
        self._tasks = tasks
        self._env_id = tasks.env_ids[0]
        self._places = places
        self._options = options
        self._place: str | None = None
        self._computer: Computer | None = None
        self._text_only = False
        self._steps = self._episodes = 0
        self._episode_id: str | None = None

    def list_splits(self) -> list[str]:
        return list(self._tasks.splits)

    def num_tasks(self, split: str) -> int:
        return self._tasks.num_tasks(split)

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        return self._tasks.get_task(split, index)

    def get_task_range(self, split: str, start: int | None = None, stop: int | None = None) -> list[dict[str, Any]]:
        indices = range(self.num_tasks(split))[start:stop][:MAX_LISTED]
        return [self.get_task(split, index) for index in indices]

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        return self.get_task_range(split)

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        *,
        environment: str | None = None,
        split: str | None = None,
        index: int | None = None,
        text_only: bool = False,
        **kwargs: Any,
    ) -> PluriverseObservation:
        """Begin an episode of an environment or of the task ``index`` of ``split``; return its first picture.

        ``text_only``: observations of this episode have the tree of the screen, and no picture.
        """
        if kwargs:
            known = "seed, episode_id, environment, split, index, text_only"
            raise ConfigurationError(f"reset doesn't know {min(kwargs)!r:.40}; expected {known}")
        if split is not None or index is not None:
            task = self.get_task(split or self.list_splits()[0], validation.integer("index", index, 0, MAX_SEED))
            environment = environment or task["environment"]
            seed = task["seed"] if seed is None else seed
        if environment is not None and environment not in self._tasks.env_ids:
            raise ConfigurationError(f"{environment!r:.200} isn't served here; {self._name} is")
        environment = environment or self._env_id
        computer = self._open(environment)
        # OpenEnv's seeds have no limit.
        computer.begin(None if seed is None else seed % (MAX_SEED + 1), env=environment)
        self._env_id = environment
        self._text_only = validation.flag("text_only", text_only)
        self._steps = 0
        self._episodes += 1
        self._episode_id = episode_id or str(self._episodes)
        return self._observed(computer)

    def step(self, action: PluriverseAction, timeout_s: float | None = None, **kwargs: Any) -> PluriverseObservation:
        del timeout_s, kwargs
        computer = self._computer
        if computer is None:
            raise ResetNeeded("no episode has begun: call reset first")
        answered = _act(computer, action)
        self._steps += 1
        return self._observed(computer, answered, marks=action.marks, tree=action.tree)

    @property
    def state(self) -> PluriverseState:
        if self._computer is None:
            return PluriverseState(environment=self._env_id)
        result = self._computer.standing()
        return PluriverseState(
            episode_id=self._episode_id,
            step_count=self._steps,
            environment=self._env_id,
            frames=result.elapsed,
            total_reward=self._computer.total_reward,
            terminated=result.terminated,
            truncated=result.truncated,
            lags_ms=result.lags.ms,
        )

    def get_metadata(self) -> EnvironmentMetadata:
        clock = self._options["clock"]
        description = DESCRIPTION.format(name=self._name, clock=clock)
        return EnvironmentMetadata(name=self._name, description=description, version=version("pluriverse"))

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

    def _open(self, env_id: str) -> Computer:
        if runtime_of(env_id) != runtime_of(self._env_id):
            self.close()
        if self._computer is None:
            self._place = self._places.take(CLOSING_S)
            try:
                self._computer = Computer(env_id, self._place, **self._options)
            except BaseException:
                self.close()
                raise
        return self._computer

    def _observed(
        self, computer: Computer, answered: Answer = NOTHING, *, marks: bool = False, tree: bool = False
    ) -> PluriverseObservation:
        if marks and not computer.over:
            answered = replace(answered, image=computer.look(marks=True))
        seen = None
        if (tree or self._text_only) and not computer.over:
            seen = computer.last_tree if marks else computer.tree()
        result = computer.standing()
        image = None if self._text_only else answered.image or computer.seen()
        return PluriverseObservation(
            image="" if image is None else base64.b64encode(image.data).decode(),
            media_type=cast("Any", f"image/{computer.format if image is None else image.format}"),
            width=computer.view.width,
            height=computer.view.height,
            text=result.text,
            message=answered.message,
            tree="" if seen is None else seen.text(),
            reward=result.reward,
            done=result.over,
        )


def environments(env: str, remotes: str) -> list[str]:
    """Return the ids of an environment, or of those of a pattern; ``remotes`` as for ``Offered``."""
    return Offered([env], remotes).ids or [env]


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


def make_app(env: str, remotes: str, host: str, token: str | None, *, idle_s: float = IDLE_S, **options: Any) -> Any:
    """Return OpenEnv's ASGI application for an environment, or those of a pattern; ``options`` are ``Computer``'s.

    ``host`` and ``token``: as for ``web.guarded``; without a token all who reach it may use it. A session ends when its
    client was silent for ``idle_s`` seconds.
    """
    places = Remotes(remotes)
    tasks = Tasks(environments(env, remotes))
    options = {"clock": "realtime", **options}
    validation.choice("clock", options["clock"], CLOCKS)
    app: Any = create_fastapi_app(
        lambda: PluriverseEnvironment(env, tasks, places, options),
        PluriverseAction,
        PluriverseObservation,
        env_name=env,
        state_cls=PluriverseState,
        # Its limit is of sessions without a connection, which OpenEnv has, too.
        concurrency_config=ConcurrencyConfig(max_concurrent_envs=places.count, session_timeout=idle_s),
    )
    app.add_middleware(_Sessions, idle_s=idle_s)
    return app if token is None else guarded(app, host, token)


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
