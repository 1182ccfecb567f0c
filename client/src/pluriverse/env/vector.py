"""``VectorEnv``: many remotes stepped together, in real time; a slow or broken one keeps nobody waiting."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from pluriverse_protocol.messages import Describe

from pluriverse import remotes as remotes_module
from pluriverse.errors import Closed, ConfigurationError, RemoteFailed, ResetNeeded
from pluriverse.remotes import RemoteManager
from pluriverse.remotes.address import Address
from pluriverse.spaces import EventSpace, Observation, ObservationSpace
from pluriverse.vnc import VncOptions, wait_for_frames
from pluriverse.vnc.held import InputEvent

from .actions import Action, parse_actions
from .base import Env, EnvSpec
from .keeper import Keeper, Link
from .resets import Resets
from .screens import open_screen
from .slot import Outcome, Slot
from .views import View, make_view

# What programs that paint the metadata block listen for; browsers' take the backtick, which agents choose for them.
PROBE_KEYSYM: Final = 0xBEEF1

# Waiting alternates between screens and rewarders, which have nothing in common to wait on. A reward that comes while
# we wait for a frame is noticed this late at most.
SLICE_S: Final = 0.002

DEFAULT_FPS: Final = 60.0


class VectorEnv(Env):
    """Remotes as one vector, with the semantics that agents of Universe know.

    ``reset()`` returns ``[None] * n`` at once. ``step(action_n)`` never waits: it sends the actions, takes what has
    come, and returns ``observation_n, reward_n, done_n, {"n": info_n}``. An observation is None while its environment
    resets; actions are dropped then. After a done the next episode begins by itself; the reward is the old episode's,
    the observation the new one's or None. A remote that breaks is one index, with ``error`` in its info, done and
    truncated, None until it is back.
    """

    def __init__(self, env_id: str | None = None, *, fps: float | None = None) -> None:
        """``env_id`` None: whatever the remotes play. ``fps``: steps a second instead of the environment's own."""
        self.spec = EnvSpec(env_id, fps) if env_id is not None else None
        self.metadata = {
            "semantics.async": True,
            "semantics.autoreset": True,
            "runtime.vectorized": True,
            "video.frames_per_second": fps or DEFAULT_FPS,
        }
        self.observation_space = ObservationSpace()
        self.action_space = EventSpace()
        self._fps = fps
        self._keeper: Keeper | None = None
        self._slots: list[Slot] = []
        self._resets = Resets(env_id, fps)
        self._closed = False
        self._replace_on_crash = True
        self._news = 0
        self._view: View | None = None
        self._finalizer: weakref.finalize[..., Any] | None = None

    @property
    def n(self) -> int:
        """How many remotes there are; 0 before ``configure``."""
        return len(self._slots)

    @property
    def addresses(self) -> list[Address]:
        """Where the remotes are, by index; those that are being replaced are left out."""
        links = self._keeper.links if self._keeper is not None else []
        return [link.address for link in links if link is not None]

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
    ) -> None:
        """Start or find the remotes, and connect to all of them; blocks until they are there.

        Args:
            remotes: how many to start (``4``, ``"docker:4"``, ``"local:4"``), or where they are
                (``"vnc://host:5900+15900,…?password=…"``), or a manager of one's own.
            start_timeout_s: how long one may take to start.
            replace_on_crash: whether a broken remote is reconnected or replaced; if not, ``step`` raises RemoteFailed.
            vnc: how the screen is asked for; None for the driver's defaults.
            vision: False plays without a screen: ``vision`` is None, and actions go over the rewarder connection.
            action_probes: whether a key that means nothing is pressed each second to measure the way of actions.
            probe_keysym: that key.
            observer: watch without being the agent: resets and actions are refused.

        Raises:
            ConfigurationError: what is asked for can't be had here.
            RemoteUnavailable: a remote could not be started or reached.
            Closed: it was configured before, or closed.
        """
        if self._closed or self._keeper is not None:
            raise Closed("this environment was configured before; make another one")
        env_id = self.spec.id if self.spec is not None else None
        if isinstance(remotes, int | str):
            manager = remotes_module.parse(remotes, env_id, start_timeout_s=start_timeout_s)
        else:
            manager = remotes
        options = vnc if vnc is not None else VncOptions()
        opener = partial(open_screen, options=options) if vision else None
        keeper = Keeper(manager, opener, self._resets, observer=observer)
        self._finalizer = weakref.finalize(self, _release, os.getpid(), keeper, manager)
        self._replace_on_crash = replace_on_crash
        self._resets.seeds = [None] * manager.n
        try:
            with remotes_module.progress_bar(manager.n) as progress:
                keeper.connect(list(manager.start(progress)))
        except BaseException:
            self._finalizer()
            raise
        self._keeper = keeper
        self._slots = [Slot(probe_keysym=probe_keysym if action_probes and vision else None) for _ in range(manager.n)]
        self._note_described()

    def seed(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        """Seed the next ``reset``, once: index ``i`` gets ``seed + i``, or ``seed[i]``.

        Raises:
            ConfigurationError: there aren't as many seeds as remotes.
        """
        self._require()
        if seed is None or isinstance(seed, int):
            seeds = [None if seed is None else seed + index for index in range(self.n)]
        else:
            seeds = list(seed)
        if len(seeds) != self.n:
            raise ConfigurationError(f"expected {self.n} seeds, one for each remote, got {len(seeds)}")
        self._resets.seeds = seeds
        return list(seeds)

    def reset(self) -> list[Observation]:
        """Ask every remote for a new episode; returns ``[None] * n`` at once. What the old ones earned is dropped."""
        keeper = self._require()
        self._resets.wanted = True
        for index, link in enumerate(keeper.links):
            if link is not None:
                link.rewarder.reset(self._resets.make(index, link.rewarder))
        return [None] * self.n

    def truncate(self, index: int, *, seed: int | None = None) -> None:
        """Give up the episode of one index, and ask for the next; what it had earned since the last step is dropped.

        ``seed`` is the next episode's. A remote that is away begins it when it is back.
        """
        keeper = self._require()
        self._resets.wanted = True
        self._resets.seeds[index] = seed
        link = keeper.links[index]
        if link is not None:
            link.rewarder.reset(self._resets.make(index, link.rewarder))

    def step(self, action_n: Any) -> tuple[list[Observation], list[float], list[bool], dict[str, Any]]:
        """Act on all remotes, and take what has come of them.

        Raises:
            ActionError: an action isn't one; nothing was sent to any remote.
            ResetNeeded: before the first ``reset``.
            RemoteFailed: a remote broke, and ``replace_on_crash`` is off.
        """
        keeper = self._require()
        if not self._resets.wanted:
            raise ResetNeeded("call reset() before the first step()")
        actions = parse_actions(action_n, self.n)
        self._news = keeper.signal.count
        now = time.time()
        outcomes = [self._step_one(keeper, index, action, now) for index, action in enumerate(actions)]
        return (
            [outcome.observation for outcome in outcomes],
            [outcome.reward for outcome in outcomes],
            [outcome.done for outcome in outcomes],
            {"n": [outcome.info for outcome in outcomes]},
        )

    def step_some(self, actions: Mapping[int, Action]) -> dict[int, Outcome]:
        """``step`` for some of the remotes, by index; what the others have to say is kept for later.

        Raises:
            ResetNeeded: before the first ``reset``.
            RemoteFailed: a remote broke, and ``replace_on_crash`` is off.
        """
        keeper = self._require()
        if not self._resets.wanted:
            raise ResetNeeded("call reset() before the first step()")
        now = time.time()
        return {index: self._step_one(keeper, index, action, now) for index, action in actions.items()}

    def vision(self, index: int) -> Any:
        """The last that was seen of a screen, of whichever episode; None while the remote is away."""
        return self._slots[index].vision

    def send_events(self, index: int, events: Sequence[InputEvent]) -> None:
        """Send keys and pointer to a screen, also while its environment resets; lost where it is away."""
        link = self._require().links[index]
        if events and link is not None and link.screen is not None:
            link.screen.send_events(events)

    def news(self, indices: Sequence[int]) -> Sequence[int]:
        """Those of ``indices`` that ``step_some`` may get something new of; what this tells counts as told."""
        keeper = self._require()
        count = keeper.signal.count
        if count != self._news:
            self._news = count
            return indices
        return [index for index in indices if _has_news(keeper.links[index])]

    def described(self, index: int) -> Describe | None:
        """What a remote says of itself; None while it is away."""
        link = self._require().links[index]
        return link.rewarder.described if link is not None else None

    def wait(self, timeout_s: float, indices: Sequence[int] | None = None) -> bool:
        """Wait until a screen of ``indices``, or any rewarder, has something new; False if none had in time.

        ``timeout_s`` is seconds; None for ``indices``: all of them.
        """
        keeper = self._require()
        links = keeper.links if indices is None else [keeper.links[index] for index in indices]
        deadline = time.monotonic() + timeout_s
        while keeper.signal.count == self._news:
            if any(link is not None and link.error is not None for link in links):
                return True
            left = deadline - time.monotonic()
            screens = [link.screen for link in links if link is not None and link.screen is not None]
            if screens and wait_for_frames(screens, max(0.0, min(left, SLICE_S))):
                return True
            if left <= 0:
                return False
            if not screens:
                return keeper.signal.wait_beyond(self._news, left)
        return True

    def wait_for_rewarder(self, timeout_s: float) -> bool:
        """Wait until a rewarder has something new, whatever the screens show; for environments that wait for us."""
        return self._require().signal.wait_beyond(self._news, timeout_s)

    def render(self, mode: str = "human") -> Any:
        """``"rgb_array"``: the last pictures, arrays or None. ``"human"`` and ``"terminal"`` show the first."""
        self._require()
        pictures = [slot.vision for slot in self._slots]
        if mode == "rgb_array":
            return pictures
        if self._view is None:
            self._view = make_view(mode, title=self.spec.id if self.spec is not None else "pluriverse")
        if pictures[0] is not None:
            self._view.show(pictures[0])
        return None

    def close(self) -> None:
        """Hang up, remove the remotes that were started, end all threads; may be called repeatedly."""
        self._closed = True
        if self._view is not None:
            self._view.close()
            self._view = None
        if self._finalizer is not None:
            self._finalizer()

    def __repr__(self) -> str:
        return f"VectorEnv({self.spec.id if self.spec is not None else None!r}, n={self.n})"

    def _require(self) -> Keeper:
        if self._keeper is None:
            raise Closed("this environment isn't configured; call configure(remotes=…) first")
        if self._closed:
            raise Closed("this environment is closed")
        return self._keeper

    def _step_one(self, keeper: Keeper, index: int, action: Action, now: float) -> Outcome:
        link, slot = keeper.links[index], self._slots[index]
        error = link.error if link is not None else None
        if link is None or error is None:
            return slot.step(link, action, now)
        if action.peek:
            # The end of an episode is never handed out by a peek; the next step tells.
            return slot.step(None, action, now)
        keeper.lost(index, recover=self._replace_on_crash)
        if not self._replace_on_crash:
            raise RemoteFailed(f"remote {index} at {link.address} broke: {error}") from error
        return slot.failed(link, error)

    def _note_described(self) -> None:
        """What the first remote says of itself, for whoever asks the environment."""
        assert self._keeper is not None
        link = self._keeper.links[0]
        described = link.rewarder.described if link is not None else None
        if described is None:
            return
        if self._fps is None:
            self.metadata["video.frames_per_second"] = described.fps
        self.action_space = EventSpace(described.width or 1024, described.height or 768)


def _has_news(link: Link | None) -> bool:
    return link is not None and (link.error is not None or (link.screen is not None and link.screen.fresh))


def _release(pid: int, keeper: Keeper, manager: RemoteManager) -> None:
    """Everything that an environment holds. A forked process has copies of it that aren't its own."""
    if os.getpid() == pid:
        keeper.hang_up()
        # Before the threads are waited for: one may be starting a remote, and gives up when it is removed.
        manager.close()
        keeper.close()
