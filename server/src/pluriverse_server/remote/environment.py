"""One environment as a service: feeds reports and requests to the episode machine, and carries out its outputs."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import shutil
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from msgspec import structs
from pluriverse_protocol import messages, reports
from pluriverse_protocol.episodes import State
from pluriverse_protocol.events import Event, JoystickEvent, RelativePointerEvent, SubmitEvent
from pluriverse_protocol.kinds import read
from pluriverse_protocol.pads import PLACES
from pluriverse_protocol.sound import RATE
from pluriverse_protocol.steady_clock import SteadyClock
from pluriverse_protocol.step_channel import View

from pluriverse_server.access.tokens import Token
from pluriverse_server.daemon.http_auth import HttpAuth
from pluriverse_server.daemon.leases import Leases
from pluriverse_server.daemon.requests import RequestError
from pluriverse_server.daemon.sessions import Sessions
from pluriverse_server.display import AsyncInitialState, AsyncInjector, DisplayLost
from pluriverse_server.display.keymap import PROBE_KEYCODES
from pluriverse_server.episode import Begin, EpisodeMachine, Finished, Output, Send
from pluriverse_server.kit import views
from pluriverse_server.kit.step_channel import IN_REAL_TIME
from pluriverse_server.lockstep.clock import LIBRARY, can_fix_addresses
from pluriverse_server.manifest.runtime import NO_OPTIONS, EnvTable, Manifest, ManifestError
from pluriverse_server.manifest.sources import ScreenSource, Source
from pluriverse_server.permitted import Permitted, pass_on, permitted_by
from pluriverse_server.programs.catalogue import refusal
from pluriverse_server.programs.program import Program
from pluriverse_server.settings import Settings
from pluriverse_server.sources.trees import NoTree
from pluriverse_server.tasks import call_later, fail, start_task
from pluriverse_server.viewer.routes import Refused
from pluriverse_server.vnc_proxy.vnc_proxy import VncProxy

from .crash_limit import CrashLimiter
from .metrics import Metrics
from .status import Statistics, inputs_status, keys_status

log = logging.getLogger(__name__)

# How often to check whether a heartbeat is due or the program has frozen.
TICK_S: Final = 0.1

# With less room than this in the place for temporary files, crashes don't count.
MIN_FREE_BYTES: Final = 1024 * 1024

# A scraper ends its program at the limit itself, since it knows which rewards are still to be given. The daemon's limit
# comes this much later, in case the scraper hangs.
SCRAPED_LIMIT_GRACE_S: Final = 1.0

# How long an agent in lockstep may take to ask for its next episode, before one begins that nobody asked for: what has
# been started in vain costs more.
ASKED_S: Final = 0.01

# Extensions of the protocol that agents may rely on; sent in v0.env.describe.
CAPABILITIES: Final = ("fps", "options", "ping.received_at", "reward.frame_at", "reward.truncated", "seed")
TREE_CAPABILITIES: Final = ("marks", "tree")


# Beside what an environment names: what agents press to measure latency, of old ones the backtick in browsers; and the
# key that makes a step where an environment waits for it.
PROBES: Final = frozenset(PROBE_KEYCODES)
PAGE_PROBE: Final = ord("`")
STEP_KEY: Final = ord("c")

_Said = TypeVar("_Said")


class EnvironmentService:
    """Runs one environment on one screen; implements ``daemon.requests.Requests`` for its connections."""

    def __init__(
        self,
        settings: Settings,
        manifest: Manifest,
        catalogue: Mapping[str, EnvTable],
        runtime_dir: Path,
        http_auth: HttpAuth,
        vnc_proxy: VncProxy,
        on_change: Callable[[], None],
    ) -> None:
        """Use the private folder ``runtime_dir``; call ``on_change`` when the episode or its state changes."""
        self.metrics = Metrics({"vnc": vnc_proxy, "rewarder": http_auth})
        self.statistics = Statistics()
        self.sessions = Sessions(self)
        self.leases = Leases(self.sessions, http_auth.secrets)
        self.program = Program(
            settings.runtime,
            manifest,
            catalogue,
            runtime_dir,
            self._reported,
            self._program_lost,
            self._clear_screen,
        )
        self.gave_up: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.mistake: asyncio.Future[ManifestError] = asyncio.get_running_loop().create_future()
        self.state: AsyncInitialState | None = None  # of the screen
        self.permitted: Permitted | None = None  # what agents may press at the moment; None is everything
        # Called with all that passes through, with outputs before they are carried out; none may take long.
        self.report_listeners: list[Callable[[reports.Report], None]] = []
        self.output_listeners: list[Callable[[Output], None]] = []
        self.joystick_listeners: list[Callable[[JoystickEvent], None]] = []
        self._tilted: dict[str, None] = {}
        self._held_by_viewers: dict[Event, None] = {}  # as what lets go of it
        # In lockstep: what was last sent to the program about viewers, and when a change is sent.
        self._told_watched: bool | None = None
        self._telling: asyncio.TimerHandle | None = None
        self._worlds = reports.Worlds(0, (), 0)
        self._in_real_time = asyncio.Event()
        self._injector: AsyncInjector | None = None
        self._vnc_proxy = vnc_proxy
        self._manifest = manifest
        self._first_clock = settings.first_clock
        self._catalogue = catalogue
        self._machine = EpisodeMachine(self._describe, secrets.randbits(64))
        self._crashes = CrashLimiter()
        self._runtime_dir = runtime_dir
        self._clock = SteadyClock(time.time, time.monotonic)
        self._on_change = on_change
        self._time_limit: asyncio.TimerHandle | None = None
        self._resetting_since: float | None = None
        self._ticker: asyncio.Task[None] | None = None
        self._beginning: Begin | None = None
        self._kept: int | None = None  # the process whose start is in the screen's state

    async def start(self, env_id: str) -> None:
        await self.program.start()
        self.program.require(self._catalogue[env_id])
        self.sessions.start()
        self._ticker = start_task(self._tick(), "heartbeat")
        environment = self._manifest.environment(self._catalogue[env_id])
        if self._first_clock in self._manifest.clocks(env_id):
            environment = replace(environment, clock=self._first_clock)
        self._carry_out(self._machine.reset(environment, seed=None, fps=None, leaving=0, now=self._clock.now()))

    async def stop(self, reason: str) -> None:
        self.leases.stop()
        if self._ticker is not None:
            self._ticker.cancel()
        for timer in (self._time_limit, self._telling):
            if timer is not None:
                timer.cancel()
        await asyncio.gather(self.sessions.stop(reason), self.program.stop())

    async def take_screen(self, display: str, xauthority: Path) -> None:
        """Play on a fresh screen; raise DisplayLost if it is gone."""
        self.state = await AsyncInitialState.open(display, xauthority)
        self._injector = await AsyncInjector.open(display, xauthority)

    async def leave_screen(self) -> bool:
        """Send nothing more to the screen; return whether there was one."""
        injector, self._injector = self._injector, None
        state, self.state = self.state, None
        for client in (state, injector):
            if client is not None:
                await client.close()
        return injector is not None

    def part_died(self, part: str, how: str, *, counts: bool = True) -> None:
        """Count a crash of a part of the remote; too many in too short a time complete ``gave_up``.

        One that a guest may have caused ends nothing: then it ``counts`` in the metrics alone.
        """
        self.metrics.deaths.labels(part).inc()
        if not counts:
            return
        if shutil.disk_usage(self._runtime_dir).free < MIN_FREE_BYTES:
            # Everything dies of this, and nothing once there is room.
            log.warning("%s: %s; the disk of %s is full: make room there", part, how, self._runtime_dir)
            return
        if self._crashes.record(f"{part}: {how}", self._clock.now()) and not self.gave_up.done():
            self.gave_up.set_result(self._crashes.summary())

    def restart(self, reason: str) -> None:
        self.program.restart(reason)

    def screen_lost(self, reason: str) -> None:
        """End the episode of a screen that died; the next one waits for another screen."""
        self._carry_out(self._machine.program_lost(reason, self._clock.now()))

    def status(self) -> dict[str, Any]:
        now = self._clock.now()
        round_trip_s = self.sessions.agent_round_trip_s
        runtime = self._manifest.runtime
        episode, described = self._machine.episode, self._machine.description()
        spaces = described.spaces if described is not None else None
        return {
            "runtime": runtime.id,
            "runtime_version": runtime.version,
            "width": runtime.screen.width,
            "height": runtime.screen.height,
            "metadata": runtime.block.model_dump(exclude={"qr"}),
            **self.statistics.episode_status(episode, self._machine.state.value, now),
            "rewarded": episode is None or self._manifest.is_rewarded(episode.environment.env_id),
            "clocks": list(self._manifest.clocks(episode.environment.env_id)) if episode is not None else [],
            "audio": episode is not None and self._is_heard(episode.environment.env_id),
            "keys": keys_status(spaces),
            **inputs_status(spaces),
            "now": time.time(),
            "readings": self.statistics.sources_status({name: _region(table) for name, table in self._sources.items()}),
            "agents": int(self.sessions.agent is not None),
            "observers": self.sessions.observers,
            "worlds": self._worlds.slots if self.in_lockstep else (),
            "world": self._worlds.shown,
            "agent_round_trip_ms": round_trip_s * 1000 if round_trip_s is not None else None,
        }

    def render_metrics(self) -> bytes:
        self.metrics.connections.labels("agent").set(int(self.sessions.agent is not None))
        self.metrics.connections.labels("observer").set(self.sessions.observers)
        self.metrics.malformed_reports.set(self.program.malformed_reports)
        self.metrics.discarded_reports.set(self._machine.discarded_reports)
        self.metrics.merged_rewards.set(self.sessions.merged_rewards)
        self.metrics.dropped_observations.set(self.sessions.dropped_observations)
        self.metrics.tasks.set(len(asyncio.all_tasks()))
        return self.metrics.render()

    # ── requests of connections ──────────────────────────────────────────────────────────────────────────────────────

    def description(self) -> tuple[messages.Describe, int] | None:
        described = self._machine.description()
        if described is None or self._machine.episode is None:
            return None
        return described, self._machine.episode.episode_id

    @property
    def in_lockstep(self) -> bool:
        return not self._in_real_time.is_set()

    def why_not(self, who: Token) -> str | None:
        return self.leases.why_not(who)

    def reset(self, reset: messages.Reset, leaving: int) -> int:
        """Begin an episode, or join the one that is beginning; return its id."""
        assert self._machine.episode is not None
        before = self._machine.episode.environment
        env_id = reset.env_id or before.env_id
        entry = self._catalogue.get(env_id)
        if entry is None:
            raise RequestError(refusal(self._manifest, self._catalogue, env_id))
        options = reset.options
        if options is None:
            options = before.options if env_id == before.env_id else NO_OPTIONS
        try:
            environment = self._manifest.environment(entry, options)
        except ValueError as error:
            raise RequestError(f"{env_id}: {error}") from None
        clock = reset.clock or "realtime"
        if clock not in self._manifest.clocks(env_id):
            raise RequestError(f"{env_id} supports real time only")
        environment = replace(environment, clock=clock)
        self._carry_out(
            self._machine.reset(environment, seed=reset.seed, fps=reset.fps, leaving=leaving, now=self._clock.now())
        )
        return self._machine.episode.episode_id

    async def act(self, events: Sequence[Event]) -> None:
        """Inject key, pointer and joystick events in order, but for those that the environment's spaces don't name.

        One that says that the agent is done comes last.
        """
        await self._inject(events, self.permitted)
        self.metrics.actions.inc()

    async def act_of_viewer(self, asked: Mapping[str, Any]) -> None:
        """Inject ``asked["events"]``, which VNC doesn't know, of a person, who may press everything."""
        try:
            events = read(messages.Action, {"action": asked["events"]}).action
            await self._inject(events, None)
        except RequestError as error:
            raise Refused(str(error)) from None
        for event in events:
            if isinstance(event, JoystickEvent):
                at_rest, is_held = JoystickEvent(event.name, 0.0), event.value
            elif isinstance(event, RelativePointerEvent):
                at_rest, is_held = RelativePointerEvent(0, 0, 0), event.buttonmask
            else:
                continue
            self._held_by_viewers.pop(at_rest, None)
            if is_held:
                self._held_by_viewers[at_rest] = None

    async def viewer_left(self, asked: Mapping[str, Any]) -> None:
        """Let go of what viewers hold by ``act_of_viewer``, since one of them has left."""
        del asked
        held, self._held_by_viewers = self._held_by_viewers, {}
        with contextlib.suppress(RequestError):
            await self._inject([*held], None)

    async def _inject(self, events: Sequence[Event], permitted: Permitted | None) -> None:
        joystick = [event for event in events if isinstance(event, JoystickEvent)]
        if joystick and not self.program.takes_joystick:
            raise RequestError(f"{joystick[0].name}: this environment doesn't support joystick events")
        for event in joystick:
            self._tilt(event)
        submits = [event for event in events if isinstance(event, SubmitEvent)]
        if submits and not pass_on(submits, permitted):
            raise RequestError("SubmitEvent: this environment ends by itself; its spaces have no submit")
        others = [event for event in events if not isinstance(event, JoystickEvent | SubmitEvent)]
        others = pass_on(others, permitted)
        if others:
            if self._injector is None:
                raise RequestError("the screen is restarting; the action was dropped")
            try:
                await self._injector.apply(others)
            except DisplayLost as error:
                raise RequestError(f"the action was dropped: {error}") from error
        if submits and self.ongoing is not None:
            self.program.send(reports.Submit(self.ongoing))

    def _tilt(self, event: JoystickEvent) -> None:
        if event.value and event.name in PLACES:
            self._tilted[event.name] = None
        self.program.send(reports.Joystick(event.name, event.value))
        for listener in self.joystick_listeners:
            _tell(listener, event)

    async def tree(self) -> messages.TreeReply:
        described = self._machine.description()
        if described is None or self.ongoing is None:
            raise RequestError("no episode is running; a tree needs one")
        if why_not := self._why_no_tree(described):
            raise RequestError(why_not)
        screen = self._manifest.runtime.screen
        try:
            tree = await self.program.tree(described.picture or (0, 0, screen.width, screen.height))
        except NoTree as error:
            raise RequestError(str(error)) from error
        return messages.TreeReply(tree.nodes, tree.left_out)

    def _why_no_tree(self, described: messages.Describe) -> str | None:
        """Return why the screen has no tree, or None."""
        program = self._manifest.game(described.env_id).program
        if self._manifest.page is not None:
            return None
        if program is None or not program.accessibility:
            return f"{described.env_id} has no tree: its program doesn't describe what it draws"
        if described.clock == "lockstep":
            return f"{described.env_id} has no tree in lockstep: its program can't be read while it is paused"
        return None

    @property
    def ongoing(self) -> int | None:
        episode = self._machine.episode
        return episode.episode_id if episode is not None and self._machine.state is State.RUNNING else None

    def require_step_channel(self, slot: int, view: View | None) -> None:
        episode = self._machine.episode
        if episode is None or episode.environment.clock != "lockstep":
            raise RequestError(IN_REAL_TIME)
        if not self.program.step_channels.connected:
            raise RequestError("the program isn't running yet; wait until the episode runs")
        slots = self._manifest.slots(episode.environment.env_id)
        if slot >= slots:
            raise RequestError(f"unknown slot {slot}; expected 0 to {slots - 1}")
        if view is not None and not view.is_whole and not views.available():
            raise RequestError("this remote only sends whole pictures; its description has no views")

    def open_step_channel(self, step_channel: socket.socket, slot: int, view: View | None) -> None:
        self.program.step_channels.hand_over(step_channel, slot, view)

    def agent_left(self) -> None:
        start_task(self._release(), "releasing keys")

    def agent_ended(self) -> None:
        self.program.step_channels.take_back()
        start_task(self._restore_input(), "agent's end")

    async def _release(self) -> None:
        tilted, self._tilted = self._tilted, {}
        for name in tilted if self.program.takes_joystick else ():
            self._tilt(JoystickEvent(name, 0.0))
        if self._injector is not None:
            with contextlib.suppress(DisplayLost):
                await self._injector.release_all()

    async def _lift(self) -> None:
        """Release what is held by agents and VNC clients."""
        presses = self._vnc_proxy.presses
        self._vnc_proxy.lift()
        if presses and self.state is not None:
            # With the button the VNC server moves the pointer, which is put back after that.
            await self.state.wait_for_buttons()
        await self._release()

    async def _restore_input(self) -> None:
        await self._lift()
        if self.state is not None:
            await self.state.restore_input()

    async def _clear_screen(self) -> None:
        if self.state is not None:
            await self.state.restore_screen()

    async def _begin(self, begin: Begin, state: AsyncInitialState) -> None:
        await self._lift()
        # A scraper, which knows when its program ends and starts, does the rest.
        await (state.restore_input() if self._manifest.has_scraper else state.restore())
        if not begin.asked and begin.environment.clock == "lockstep" and self._manifest.has_scraper:
            await asyncio.sleep(ASKED_S)
        if begin is self._beginning:
            self.program.begin(begin)

    # ── reports of the program ───────────────────────────────────────────────────────────────────────────────────────

    def _reported(self, report: reports.Report) -> None:
        if isinstance(report, reports.Worlds):
            self._worlds = report
            self._on_change()
            return
        for listener in self.report_listeners:
            _tell(listener, report)
        now = self._clock.now()
        episode = self._machine.episode
        if isinstance(report, reports.Readings) and episode is not None and report.episode == episode.episode_id:
            self._note_readings(report)
        if isinstance(report, reports.Frame) and episode is not None and report.episode == episode.episode_id:
            self.metrics.frames.inc(max(0, report.frames - episode.frames))
            self.metrics.late_frames.inc(max(0, report.late_frames - episode.late_frames))
            self.statistics.frame_rate.note(report.frames, now)
            if episode.environment.clock == "lockstep":
                self.statistics.stepped_at = now
        if isinstance(report, reports.SlotFrames):
            self.metrics.frames.inc(report.frames)
        if isinstance(report, reports.Ready) and self.state is not None and self._kept != self.program.pid:
            self._kept = self.program.pid
            start_task(self.state.keep(), "program's start")
        self._carry_out(self._machine.report(report, now))

    def _note_readings(self, report: reports.Readings) -> None:
        # Only a scraper reads sources; a cooperating program may use the report for something else.
        known = {
            name: cast("Mapping[str, Any]", reading)
            for name, reading in report.readings.items()
            if name in self._sources and isinstance(reading, dict)
        }
        if known:
            self.statistics.readings.update(known)
            self.metrics.note_readings(known, report.cycle_ms / 1000)

    def _is_exact(self, env_id: str) -> bool:
        """Whether a program plays in lockstep by a clock of its own, or by ours and with all that it needs beside."""
        if not self._manifest.plays_scraped:
            return True
        program = self._manifest.game(env_id).program
        needs_addresses = program is not None and program.same_addresses
        return LIBRARY.exists() and (can_fix_addresses() or not needs_addresses)

    def _is_heard(self, env_id: str) -> bool:
        """Whether its program has a sound card."""
        return self._manifest.plays_scraped and self._manifest.game(env_id).program is not None and LIBRARY.exists()

    @property
    def _sources(self) -> Mapping[str, Source]:
        episode = self._machine.episode
        return self._manifest.game(episode.environment.env_id).sources if episode is not None else {}

    def _program_lost(self, lost: reports.Lost) -> None:
        if lost.cause == "manifest" and not self.mistake.done():
            self.mistake.set_result(ManifestError(lost.reason))
        if lost.cause == "process":
            self.part_died("program", lost.reason)
        self._carry_out(self._machine.program_lost(lost.reason, self._clock.now()))

    async def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            await self._in_real_time.wait()
            await asyncio.sleep(TICK_S)
            self.program.check_frozen(loop.time())
            self._carry_out(self._machine.heartbeat(self._clock.now()))

    async def show_world(self, asked: Mapping[str, Any]) -> None:
        """Show ``asked["world"]`` on the screen; raise Refused if there is no such world."""
        if asked["world"] not in self._worlds.slots:
            raise Refused(f"there is no world {asked['world']!r:.80}")
        self.program.send(reports.ShowWorld(asked["world"]))

    def watchers_changed(self) -> None:
        """Send the program soon whether there are viewers; unauthenticated ones are gone by then."""
        if self._telling is None and self.in_lockstep:
            self._telling = call_later(TICK_S, "who watches", self._tell_watched)

    def _tell_watched(self) -> None:
        self._telling = None
        watched = bool(self._vnc_proxy.clients) if self.in_lockstep else None
        if watched != self._told_watched:
            self._told_watched = watched
            if watched is not None:
                self.program.send(reports.Watched(watched))
            self._on_change()

    @property
    def is_at_rest(self) -> bool:
        """Whether a program that is paused between its agent's steps has no viewers."""
        return self._told_watched is False

    # ── outputs of the episode machine ───────────────────────────────────────────────────────────────────────────────

    def _carry_out(self, outputs: Sequence[Output]) -> None:
        for output in outputs:
            for listener in self.output_listeners:
                _tell(listener, output)
            match output:
                case Send(messages.Reward() as reward, episode_id):
                    self._send_reward(reward, episode_id)
                case Send(messages.Describe() as describe, episode_id):
                    self.sessions.broadcast(describe, episode_id)
                    self._note_state(describe)
                case Send(message, episode_id):
                    self.sessions.broadcast(message, episode_id)
                case Begin():
                    self.statistics.readings.clear()
                    # The program may be another one.
                    self._told_watched = None
                    self._beginning = output
                    if self.gave_up.done():
                        continue
                    if self.state is None:
                        self.program.begin(output)
                    else:
                        start_task(self._begin(output, self.state), "episode's beginning")
                case Finished():
                    self._note_end(output)

    def _send_reward(self, reward: messages.Reward, episode_id: int) -> None:
        sent_at = self.sessions.broadcast(reward, episode_id)
        episode = self._machine.episode
        if episode is not None and episode.environment.sync and not reward.done:
            self.program.send(reports.Delivered(episode_id, sent_at))
        if reward.reward or reward.done:
            end = str(reward.info.get("reason", "")) if reward.done else None
            self.statistics.note_reward(reward.frame_at or sent_at, reward.reward, episode_id, end)
        if reward.frame_at is not None and reward.reward:
            lag = max(0.0, self._clock.age(reward.frame_at))
            self.statistics.reward_lags_s.append(lag)
            self.metrics.reward_lag_seconds.observe(lag)

    def _note_state(self, describe: messages.Describe) -> None:
        loop = asyncio.get_running_loop()
        episode = self._machine.episode
        assert episode is not None
        if self._time_limit is not None:
            self._time_limit.cancel()
            self._time_limit = None
        if episode.environment.clock == "lockstep":
            self._in_real_time.clear()
        else:
            self._in_real_time.set()
        running = describe.env_state == "running"
        self.metrics.running.set(running)
        page, sync = self._manifest.page is not None, episode.environment.sync
        others = {*PROBES, *([PAGE_PROBE] if page else []), *([STEP_KEY] if sync else [])}
        self.permitted = permitted_by(describe.spaces, others)
        self._vnc_proxy.permit(self.permitted)
        if not running:
            self._resetting_since = loop.time()
        else:
            self._tell_watched()
            if self._resetting_since is not None:
                self.metrics.reset_seconds.observe(loop.time() - self._resetting_since)
            limit = episode.environment.time_limit_s
            if limit is not None and episode.environment.clock == "realtime":
                limit += SCRAPED_LIMIT_GRACE_S if self._manifest.plays_scraped else 0.0
                self._time_limit = call_later(limit, "time limit", self._time_is_up, episode.episode_id)
        self._on_change()

    def _time_is_up(self, episode_id: int) -> None:
        self._carry_out(self._machine.time_limit(episode_id, self._clock.now()))

    def _note_end(self, finished: Finished) -> None:
        self.statistics.finished.append(finished)
        self.metrics.episodes.labels("terminated" if finished.terminated else "truncated").inc()
        log.info(
            "episode %d of %s ended after %.1f s with reward %g: %s",
            finished.episode_id,
            finished.env_id,
            finished.seconds,
            finished.reward,
            finished.reason,
        )

    def _describe(self, described: messages.Describe) -> messages.Describe:
        runtime = self._manifest.runtime
        block = runtime.block
        entry = self._catalogue[described.env_id]
        clocks, slots = self._manifest.clocks(described.env_id), self._manifest.slots(described.env_id)
        return structs.replace(
            described,
            runtime=runtime.id,
            runtime_version=runtime.version,
            width=runtime.screen.width,
            height=runtime.screen.height,
            clocks=clocks if len(clocks) > 1 else None,
            frame_time=1 / described.fps if len(clocks) > 1 else None,
            time_limit=self._manifest.time_limit_of(entry),
            lockstep=("exact" if self._is_exact(described.env_id) else "frozen") if len(clocks) > 1 else None,
            slots=slots if slots > 1 else None,
            views=True if len(clocks) > 1 and views.available() else None,
            audio=RATE if self._is_heard(described.env_id) else None,
            capabilities=CAPABILITIES if self._why_no_tree(described) else (*CAPABILITIES, *TREE_CAPABILITIES),
            metadata_encoding={"type": "pixels", "x": block.x, "y": block.y},
            spaces=described.spaces or self._manifest.spaces_of(entry),
            options=entry.options or None,
        )


def _tell(listener: Callable[[_Said], None], said: _Said) -> None:
    # The caller continues: it may be the heartbeat, or the program's socket.
    try:
        listener(said)
    except Exception as error:  # noqa: BLE001 - it ends the remote
        fail("listener", error)


def _region(table: Source) -> list[int] | None:
    return table.region if isinstance(table, ScreenSource) else None
