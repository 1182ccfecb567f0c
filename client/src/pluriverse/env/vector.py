"""``VectorEnv``: many remotes stepped together, in real time, without waiting for slow or broken ones."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, TypedDict, cast

import numpy as np
from pluriverse_protocol import step_channel
from pluriverse_protocol.env_options import Value, parse_values
from pluriverse_protocol.events import Event
from pluriverse_protocol.kinds import CLOCKS
from pluriverse_protocol.limits import MAX_FPS, MAX_KEYSYM, MIN_FPS
from pluriverse_protocol.messages import Describe, TreeReply

from pluriverse import remotes as remotes_module
from pluriverse import steady, validation
from pluriverse.errors import (
    Closed,
    ConfigurationError,
    Misuse,
    RemoteFailed,
    RemoteMisbehaved,
    RemoteUnavailable,
    ResetNeeded,
)
from pluriverse.forks import Owner
from pluriverse.remotes import RemoteManager
from pluriverse.remotes.address import Address
from pluriverse.rewarder.result import Result
from pluriverse.rewarder.sound_connection import SoundConnection
from pluriverse.rewarder.step_channel import StepChannelConnection
from pluriverse.spaces import EventSpace, Observation, ObservationSpace
from pluriverse.vnc import VncConnection, VncOptions
from pluriverse.waker import WAKER

from .actions import parse_actions
from .base import Env, EnvSpec
from .connections import Asked, Clock, RemoteConnections, ResetRequests, open_screen
from .slot import Slot
from .views import Window

# The key that programs which paint the metadata block listen for; of browsers agents choose the backtick.
PROBE_KEYSYM: Final = 0xBEEF1

DEFAULT_FPS: Final = 60.0

# More days than any caller waits; the operating system's calls don't take more.
MAX_WAIT_S: Final = 1e6

# The capabilities of remotes with options, and of environments with trees.
OPTIONS: Final = "options"
TREE: Final = "tree"


class ConfigureOptions(TypedDict, total=False):
    """The options of ``VectorEnv.configure`` but for ``remotes``."""

    start_timeout_s: float
    replace_on_crash: bool
    vnc: VncOptions | None
    vision: bool
    action_probes: bool
    probe_keysym: int
    observer: bool
    take_over: bool
    env_options: Mapping[str, Any] | None
    clock: Clock


class VectorEnv(Env):
    """Many remotes as one vector, with the semantics of Universe.

    ``reset()`` returns ``[None] * n`` at once. ``step(action_n)`` doesn't wait: it sends the actions and returns what
    has come. An observation is None while its environment resets, and actions are dropped meanwhile. After a done the
    next episode begins by itself. A remote that breaks is done and truncated, with ``error`` in its info, and its
    observations are None until it is back; the others go on. A line that breaks for less than 30 s is no such break.
    """

    def __init__(self, env_id: str | None = None, *, fps: float | None = None) -> None:
        """``env_id`` None: whatever the remotes play. ``fps``: steps per second; None: the environment's own.

        Raises:
            ConfigurationError: either isn't one.
        """
        if env_id is not None:
            env_id = validation.env_id(env_id)
        if fps is not None:
            fps = validation.number("fps", fps, MIN_FPS, MAX_FPS)
        self.spec: EnvSpec | None = EnvSpec(env_id, fps) if env_id is not None else None
        self.metadata: dict[str, Any] = {
            "semantics.async": True,
            "semantics.autoreset": True,
            "runtime.vectorized": True,
            "video.frames_per_second": fps or DEFAULT_FPS,
        }
        self.observation_space: ObservationSpace = ObservationSpace()
        self.action_space: EventSpace = EventSpace()
        self.watchers: list[Callable[[int, Result], None]] = []
        """Called by ``step`` with each index and its result; for wrappers that need more than ``info``."""
        self._fps = fps
        self._connections: RemoteConnections | None = None
        self._slots: list[Slot] = []
        self._resets = ResetRequests(env_id, fps)
        self._closed = False
        self._replace_on_crash = True
        # What of ``RemoteConnections.news`` was looked at.
        self._seen: list[int] = []
        self._view: Window | None = None
        self._finalizer: weakref.finalize[..., Any] | None = None
        self.owner = Owner("this environment")

    @property
    def n(self) -> int:
        """The number of remotes; 0 before ``configure``."""
        return len(self._slots)

    @property
    def addresses(self) -> list[Address]:
        """The addresses of the remotes, without those that are being replaced."""
        connections = self._connections.by_index if self._connections is not None else []
        return [connection.address for connection in connections if connection is not None]

    def configure(
        self,
        *,
        remotes: int | str | RemoteManager = 1,
        start_timeout_s: float = remotes_module.START_S,
        replace_on_crash: bool = True,
        vnc: VncOptions | None = None,
        vision: bool = True,
        action_probes: bool = True,
        probe_keysym: int = PROBE_KEYSYM,
        observer: bool = False,
        take_over: bool = False,
        env_options: Mapping[str, Any] | None = None,
        clock: Clock = "realtime",
    ) -> None:
        """Start or find the remotes, and connect to all of them; blocks until they are there.

        Args:
            remotes: how many to start (``4``, ``"docker:4"``, ``"local:4"``), where they are
                (``"vnc://host:5900+15900,…?password=…"``), or a manager of your own.
            start_timeout_s: seconds that a remote may take to start.
            replace_on_crash: whether to reconnect or replace a broken remote; otherwise ``step`` raises RemoteFailed.
            vnc: options of the VNC driver; None for its defaults.
            vision: False plays without a screen, or until ``open_screens``: ``vision`` is None, and actions go over
                the rewarder connection.
            action_probes: whether to press a key that means nothing once a second, to measure the lag of actions.
            probe_keysym: the X keysym of that key.
            observer: watch without being the agent: resets and actions are refused.
            take_over: throw out another agent that plays; only the password may, not an agent's token.
            env_options: options of the environment by name, such as ``{"difficulty": 1}``; ``described(0).options`` has
                those there are. They hold for all episodes; options that aren't given have their defaults.
            clock: that of all episodes; see ``ask``.

        Raises:
            ConfigurationError: an option is wrong, or something is missing on this machine.
            RemoteUnavailable: a remote could not be started or reached.
            Closed: it was configured before, or closed.
        """
        if self._closed or self._connections is not None:
            raise Closed("this environment is already configured; make another one")
        self.owner = Owner("this environment")
        replace_on_crash = validation.flag("replace_on_crash", replace_on_crash)
        options = VncOptions() if vnc is None else validation.instance("vnc", vnc, VncOptions)
        probe_keysym = validation.integer("probe_keysym", probe_keysym, 1, MAX_KEYSYM)
        probes = validation.flag("action_probes", action_probes)
        opener = partial(open_screen, options=options) if validation.flag("vision", vision) else None
        observer = validation.flag("observer", observer)
        take_over = validation.flag("take_over", take_over)
        env_id = self.spec.id if self.spec is not None else None
        validation.choice("clock", clock, CLOCKS)
        self.asked = Asked(env_id, _values(env_options), clock)
        manager = remotes_module.parse(remotes, env_id, start_timeout_s=start_timeout_s, clock=clock)
        # Managers of a user's own needn't have it.
        take_over = take_over or getattr(manager, "takes_over", False)
        connections = RemoteConnections(
            manager, opener, self._resets, observer=observer, take_over=take_over, mend=replace_on_crash
        )
        self._finalizer = weakref.finalize(self, _release, self.owner, connections, manager)
        self._replace_on_crash = replace_on_crash
        self._resets.seeds = [None] * manager.n
        try:
            with remotes_module.starting(manager.n, env_id or "remotes") as progress:
                connections.connect(list(manager.start(progress)))
            if self.asked.options:
                _require_options(connections)
        except BaseException:
            self._finalizer()
            raise
        self._connections = connections
        self._seen = [0] * manager.n
        self._slots = [Slot(probe_keysym=probe_keysym if probes else None) for _ in range(manager.n)]
        self._note_described()

    def open_screens(self, vnc: VncOptions) -> None:
        """Open the screens of an environment that was configured with ``vision=False``; blocks.

        Raises:
            RemoteUnavailable: a screen can't be reached.
        """
        self.require().open_screens(partial(open_screen, options=vnc))

    def close_screens(self) -> None:
        """Go on without the screens that were opened; blocks."""
        self.require().close_screens()

    def open_viewer(self, index: int) -> VncConnection:
        """Open one more connection to a screen, in full size and colour, for the caller to close; blocks.

        Raises:
            RemoteUnavailable: the remote is away, or can't be reached.
        """
        connection = self.require().by_index[self._index(index)]
        if connection is None:
            raise RemoteUnavailable(f"remote {index} is unreachable and has no screen to show")
        return open_screen(connection.address, connection.rewarder.described, VncOptions())

    def seed(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        """Seed the next ``reset``, once: index ``i`` gets ``seed + i``, or ``seed[i]``.

        Raises:
            ConfigurationError: there aren't as many seeds as remotes.
        """
        self.require()
        seeds = self._resets.seeds = validation.seeds(seed, self.n)
        return list(seeds)

    def reset(self) -> list[Observation]:
        """Ask every remote for a new episode; return ``[None] * n`` at once. What the old ones earned is dropped."""
        connections = self.require()
        self._resets.wanted = True
        connections.refused.clear()
        for index, connection in enumerate(connections.by_index):
            if connection is not None:
                self._resets.send(index, connection.rewarder)
        return [None] * self.n

    @property
    def asked(self) -> Asked:
        """What resets ask for."""
        return self._resets.asked

    @asked.setter
    def asked(self, asked: Asked) -> None:
        self._resets.asked = asked

    def ask(
        self,
        env_id: str | None = None,
        env_options: Mapping[str, Any] | None = None,
        *,
        clock: Clock = "realtime",
    ) -> None:
        """Ask for episodes of another environment of the remotes' runtime from now on, by its options, in a clock.

        None: as before, but another environment's options have their defaults. In lockstep episodes go on by steps on
        ``open_step_channel`` alone. Where remotes refuse it, ``poll`` raises ConfigurationError until another reset.

        Raises:
            ConfigurationError: the id, an option or the clock isn't one, or a remote has no options.
        """
        validation.choice("clock", clock, CLOCKS)
        connections, before = self.require(), self.asked
        env_id = before.env_id if env_id is None else validation.env_id(env_id)
        options = before.options if env_options is None and env_id == before.env_id else _values(env_options)
        if options:
            _require_options(connections)
        self.asked = Asked(env_id, options, clock)

    def open_step_channel(
        self, index: int, slot: int = 0, view: step_channel.View | None = None
    ) -> StepChannelConnection:
        """Return another connection to a remote whose episode runs in lockstep, to one of its slots; blocks.

        ``view`` is what is wanted of pictures, where the remote makes such; others send whole ones.

        Raises:
            RemoteUnavailable: it is away, or takes no steps.
        """
        connection = self.require().by_index[self._index(index)]
        if connection is None:
            raise RemoteUnavailable(f"remote {index} is away")
        described = connection.rewarder.described
        makes_views = described is not None and bool(described.views)
        return StepChannelConnection.open(connection.rewarder.credentials, slot, view if makes_views else None)

    def open_sound(self, index: int) -> SoundConnection:
        """Return another connection to a remote, to what it plays in real time; blocks.

        Raises:
            RemoteUnavailable: it is away, or plays nothing.
        """
        connection = self.require().by_index[self._index(index)]
        if connection is None:
            raise RemoteUnavailable(f"remote {index} is away")
        return SoundConnection.open(connection.rewarder.credentials.endpoint)

    def tree(self, index: int) -> TreeReply:
        """Return what is on the picture of an environment whose episode runs, in pixels of its screen; blocks.

        Raises:
            Misuse: the remote has no tree, or no episode runs; with the reason.
            RemoteUnavailable: it is away.
            RemoteFailed: it doesn't answer.
        """
        connection = self.require().by_index[self._index(index)]
        described = connection.rewarder.described if connection is not None else None
        if connection is None or described is None:
            raise RemoteUnavailable(f"remote {index} is away")
        if TREE not in (described.capabilities or ()):
            raise Misuse(f"{described.env_id} at {connection.address} has no tree: it lacks the capability {TREE!r}")
        return connection.rewarder.tree()

    def reset_one(self, index: int, *, seed: int | None = None) -> None:
        """Give up the episode of one index and ask for the next, with ``seed``; what it had earned is dropped.

        A remote that is away begins the episode when it is back.
        """
        connections, index, seed = self.require(), self._index(index), validation.seed(seed)
        self._resets.wanted = True
        self._resets.seeds[index] = seed
        connections.refused.pop(index, None)
        connection = connections.by_index[index]
        if connection is not None:
            self._resets.send(index, connection.rewarder)

    def step(self, action_n: Any) -> tuple[list[Observation], list[float], list[bool], dict[str, Any]]:
        """Send the actions, and return what has come from all remotes; see ``Env.step``.

        Raises:
            ActionError: an action is invalid; nothing was sent to any remote.
            ResetNeeded: before the first ``reset``.
            RemoteFailed: a remote broke, and ``replace_on_crash`` is off.
            ConfigurationError: a remote refused the reset, for its environment, rate or options.
        """
        self._require_begun()
        actions = parse_actions(action_n, self.n)
        for index, action in enumerate(actions):
            self.act(index, action.events, peek=action.peek)
        peeks = {index for index, action in enumerate(actions) if action.peek}
        results = self.poll(range(self.n), peeks).values()
        return (
            [result.screen_observation() for result in results],
            [result.reward for result in results],
            [result.done for result in results],
            {"n": [result.full_info() for result in results]},
        )

    def act(self, index: int, events: Sequence[Event], *, peek: bool = False) -> None:
        """Send events to a remote; they are dropped unless its episode runs, as the next ``poll`` reports.

        ``peek``: unless the remote's latest one runs, be there an end that wasn't taken yet.

        Raises:
            ResetNeeded: before the first ``reset``.
        """
        connection = self._require_begun().by_index[index]
        if connection is not None and (connection.rewarder.error or connection.given_up):
            connection = None
        self._slots[index].act(connection, events, time.monotonic() + steady.CLOCK.offset, peek=peek)

    def poll(self, indices: Iterable[int], peeks: Container[int] = ()) -> dict[int, Result]:
        """Take what has come from some of the remotes, or of ``peeks`` only peek at it; keep what the others sent.

        Raises:
            ResetNeeded: before the first ``reset``.
            RemoteFailed: a remote broke, and ``replace_on_crash`` is off.
            ConfigurationError: a remote refused the reset.
        """
        connections = self._require_begun()
        now = time.monotonic() + steady.CLOCK.offset
        results: dict[int, Result] = {}
        for index in indices:
            results[index] = self._poll(connections, index, now, peek=index in peeks)
        for watcher in self.watchers:
            for index, result in results.items():
                watcher(index, result)
        return results

    def release(self, index: int) -> None:
        """Let go of all keys and buttons on a screen, also while its environment resets."""
        self._slots[index].release(self.require().by_index[index])

    def changed(self, indices: Sequence[int], timeout_s: float = 0.0) -> Sequence[int]:
        """Return those of ``indices`` that may have something new since the last ``poll``.

        Waits for the first for ``timeout_s`` seconds.
        """
        self.require()
        return WAKER.wait_for(partial(self._changed, indices), timeout_s)

    def described(self, index: int) -> Describe | None:
        """Return a remote's last description; None while it is unreachable."""
        connection = self.require().by_index[self._index(index)]
        return connection.rewarder.described if connection is not None else None

    def require_usable(self, index: int) -> None:
        """Raise an error if a remote broke the protocol since its last reset, or has no place for us."""
        error = self.require().refused.get(self._index(index))
        if error is not None:
            raise type(error)(f"remote {index}: {error}") from error

    def wait(self, timeout_s: float, indices: Sequence[int] | None = None) -> bool:
        """Wait until a screen of ``indices``, or any rewarder, has something new; return False if none had in time.

        ``timeout_s`` is seconds. ``indices`` None: all screens; empty: rewarders alone.
        """
        connections = self.require()
        timeout_s = validation.number("timeout_s", timeout_s, 0, MAX_WAIT_S)
        chosen = range(self.n) if indices is None else validation.indices("indices", indices, self.n)
        return WAKER.wait_for(lambda: connections.news != self._seen or bool(self._changed(chosen)), timeout_s)

    def render(self, mode: str = "human") -> Any:
        """``"rgb_array"``: return the last pictures. ``"human"``: show the first remote's in a window."""
        self.require()
        validation.choice("mode", mode, ("human", "rgb_array"))
        pictures = [slot.vision for slot in self._slots]
        if mode == "rgb_array":
            return pictures
        if self._view is None:
            self._view = Window(self.spec.id if self.spec is not None else "pluriverse")
        if pictures[0] is not None:
            self._view.show(pictures[0])
        return None

    def close(self) -> None:
        """Disconnect, remove the remotes that were started, and end all threads; may be called repeatedly."""
        self._closed = True
        if self._view is not None:
            self._view.close()
            self._view = None
        if self._finalizer is not None:
            self._finalizer()

    def __repr__(self) -> str:
        return f"VectorEnv({self.spec.id if self.spec is not None else None!r}, n={self.n})"

    def require(self) -> RemoteConnections:
        """Raise ``Closed`` unless this is configured, and not closed; ``Misuse`` in a fork of its process."""
        if not self.owner.is_here:
            self.owner.require()
        connections = self._connections
        if self._closed:
            raise Closed("this environment is closed; make another one")
        if connections is None:
            raise Closed("this environment isn't configured; call configure(remotes=…) first")
        if connections.failed is not None:
            raise RemoteFailed(f"a remote can't be replaced: {connections.failed!r}") from connections.failed
        return connections

    def _require_begun(self) -> RemoteConnections:
        connections = self.require()
        if not self._resets.wanted:
            raise ResetNeeded("call reset() before the first step()")
        return connections

    def _index(self, index: int) -> int:
        return validation.integer("index", index, 0, self.n - 1)

    def _changed(self, indices: Sequence[int]) -> Sequence[int]:
        """Return those of ``indices`` that may have something new."""
        assert self._connections is not None
        by_index, news, seen = self._connections.by_index, self._connections.news, self._seen
        changed: list[int] = []
        # For each environment at each frame of any, so no more looks than it takes.
        for index in indices:
            connection = by_index[index]
            if news[index] != seen[index]:
                changed.append(index)
            elif connection is not None:
                screen = connection.screen
                if (
                    (screen is not None and (screen.fresh or (connection.mending is None and screen.error is not None)))
                    or connection.rewarder.error
                    or connection.given_up
                ):
                    changed.append(index)
        return changed

    def _poll(self, connections: RemoteConnections, index: int, now: float, *, peek: bool) -> Result:
        self._seen[index] = connections.news[index]
        connection, slot = connections.by_index[index], self._slots[index]
        if connection is None:
            return slot.poll(None, now, peek=peek)
        rewarder, screen = connection.rewarder, connection.screen
        if rewarder.refused:
            raise ConfigurationError(rewarder.refused)
        if not (rewarder.lost or rewarder.error or connection.given_up or (screen is not None and screen.error)):
            return slot.poll(connection, now, peek=peek)
        error = connection.error
        if error is None:
            if connection.mending is None:
                connections.mend(index)
            return slot.poll(connection, now, peek=peek, reconnecting=True)
        if peek:
            # A peek never returns the end of an episode; the next look does.
            return slot.poll(None, now)
        if isinstance(error, RemoteMisbehaved):
            connections.refused[index] = error
        connections.drop(index, recover=self._replace_on_crash)
        if not self._replace_on_crash:
            raise RemoteFailed(f"remote {index} at {connection.address} broke: {error}") from error
        return slot.failed(connection, error)

    def _note_described(self) -> None:
        """Take rate and screen size from the first remote's description."""
        described = self.described(0)
        if described is None:
            return
        if self._fps is None:
            self.metadata["video.frames_per_second"] = described.fps
        self.action_space = EventSpace(*described.size)


def _values(options: Mapping[str, Any] | None) -> dict[str, Value]:
    plain: dict[str, Any] = {
        name: cast("Any", value).item() if isinstance(value, np.generic) else value
        for name, value in validation.mapping("env_options", options).items()
    }
    try:
        return parse_values(plain)
    except ValueError as error:
        raise ConfigurationError(f"env_options: {error}") from None


def _require_options(connections: RemoteConnections) -> None:
    """Check that no remote is too old to know of options: it would pass over them."""
    for connection in filter(None, connections.by_index):
        described = connection.rewarder.described
        if described is None or OPTIONS not in (described.capabilities or ()):
            raise ConfigurationError(f"env_options: the remote at {connection.address} is too old to support them")


def _release(owner: Owner, connections: RemoteConnections, manager: RemoteManager) -> None:
    """Close everything that an environment holds, but not its copies in a forked process."""
    if owner.is_here:
        connections.hang_up()
        # Before the threads are waited for: one may be starting a remote, and gives up when it is removed.
        manager.close()
        connections.close()
