"""One remote from start to end: starts screen, program and daemon, restarts what crashes, and cleans up."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from aiohttp import web

from pluriverse_server.access import audit
from pluriverse_server.access.secrets import Secrets
from pluriverse_server.certificate import Certificate, CertificateError
from pluriverse_server.daemon.http import Views, listen, make_app
from pluriverse_server.daemon.http_auth import HttpAuth
from pluriverse_server.daemon.operations import Operations
from pluriverse_server.display import Restarted, Screen, ScreenOptions, make_screen
from pluriverse_server.display.screen import X_SERVER
from pluriverse_server.manifest.runtime import EnvTable, Manifest, load
from pluriverse_server.private_folder import PrivateFolder, sweep
from pluriverse_server.process import StartError, child_user, require_free
from pluriverse_server.programs.catalogue import load_catalogue, require_environment
from pluriverse_server.settings import Settings
from pluriverse_server.sound import FILE as SOUND_FILE
from pluriverse_server.tasks import TaskFailed, call_later, first_failure, start_task
from pluriverse_server.viewer.routes import LEFT, Question
from pluriverse_server.viewer.sessions import ViewerSessions

from .child_user import let_in, user_for_children
from .environment import EnvironmentService
from .needed import require_installed
from .screen_clients import ScreenClients
from .token_file import watch

log = logging.getLogger(__name__)

SHUTDOWN_REASON: Final = "the remote is shutting down"


# While it drains, how often to look whether the episode is over.
DRAIN_LOOK_S: Final = 0.1

# How long to wait before a screen is started again that could not be, for instance since the disk is full.
RETRY_S: Final = 2.0


class GaveUp(Exception):
    """Parts of the remote crashed too often; the message names it and how."""


class Remote:
    """A remote; ``run`` starts it and returns when it has ended."""

    def __init__(self, settings: Settings, questions: Mapping[str, Question] | None = None) -> None:
        """``questions`` are what its viewer may ask, beside playing."""
        self.settings = settings
        self._questions = questions or {}
        self._stopping = asyncio.Event()
        self._service: EnvironmentService | None = None
        self._screen: Screen | None = None
        self._viewers: ViewerSessions | None = None
        self.certificate: Certificate | None = None
        """What TLS is spoken with; None without, and before ``on_start``."""

    def stop(self) -> None:
        self._stopping.set()

    @property
    def draining(self) -> bool:
        """Whether it ends as soon as its agent's episode is over."""
        return self._service is not None and self._service.leases.draining

    def drain(self) -> None:
        """Take no new agents, and make ``run`` return once the running episode of the agent is over, or its time is up.

        At once where no agent plays, or no time was set for it. May be called repeatedly, and from a signal handler.
        """
        if self._service is None or not self._service.sessions.occupied or not self.settings.drain_s:
            self.stop()
        elif not self.draining:
            self._service.leases.draining = True
            log.info("draining: the episode may continue for %g s", self.settings.drain_s)
            call_later(self.settings.drain_s, "drain", self.stop)
            start_task(self._drain(self._service), "drain")

    async def _drain(self, service: EnvironmentService) -> None:
        episode_id = service.ongoing
        while service.sessions.occupied and episode_id is not None and service.ongoing == episode_id:  # noqa: ASYNC110 - seats have no event
            await asyncio.sleep(DRAIN_LOOK_S)
        self.stop()

    @property
    def service(self) -> EnvironmentService:
        assert self._service is not None
        return self._service

    @property
    def screen(self) -> Screen:
        assert self._screen is not None
        return self._screen

    def status(self) -> Mapping[str, Any]:
        if self._service is None:
            return {}
        return {**self._service.status(), "viewers": self._viewers.viewers if self._viewers else 0}

    async def run(self, on_start: Callable[[Manifest], None]) -> None:
        failure = first_failure()
        settings = self.settings
        manifest = load(settings.runtime)
        if settings.zoom is not None:
            manifest = manifest.zoomed(settings.zoom)
        env_id = settings.env_id or manifest.runtime.default_env
        require_installed(settings.runtime, manifest, env_id, settings.display_backend)
        require_free("rewarder", settings.host, settings.rewarder_port, "--rewarder-port")
        if not settings.has_tls:
            require_free("VNC", settings.host, settings.vnc_port, "--vnc-port")
        await asyncio.to_thread(sweep)
        self.certificate = _certificate(settings)
        folder = _make_folder()
        runtime_dir = folder.path
        written = contextlib.ExitStack()
        try:
            written.enter_context(audit.written_to(settings.audit))
        except OSError as error:
            fault = f"the audit log {settings.audit} can't be written: {error}; choose another with --audit"
            raise StartError(fault) from None
        user = user_for_children(settings.runtime.resolve(), *(made.parent for made in folder.folders))
        if user is not None:
            for made in folder.folders:
                let_in(user, made)
        child_user.set(user)
        secrets = Secrets(settings.password, settings.tokens)
        http_auth = HttpAuth(secrets, self._has_seat)
        screen = self._screen = make_screen(self._screen_options(manifest, runtime_dir, secrets))
        try:
            # Independent of each other, and most of the time that a start takes.
            starting = asyncio.create_task(screen.start(), name="screen's start")
            try:
                catalogue = await load_catalogue(settings.runtime, manifest)
            finally:
                await asyncio.wait({starting})
            starting.result()
            await self._play(screen, http_auth, manifest, catalogue, runtime_dir, on_start, failure)
        finally:
            await screen.stop()
            folder.remove()
            written.close()

    async def _play(
        self,
        screen: Screen,
        http_auth: HttpAuth,
        manifest: Manifest,
        catalogue: Mapping[str, EnvTable],
        runtime_dir: Path,
        on_start: Callable[[Manifest], None],
        failure: asyncio.Future[TaskFailed],
    ) -> None:
        settings = self.settings
        env_id = require_environment(manifest, catalogue, settings.env_id or None)
        vnc_proxy = screen.vnc_proxy
        service = self._service = EnvironmentService(
            settings, manifest, catalogue, runtime_dir, http_auth, vnc_proxy, self._changed
        )
        sockets = screen.viewer_socket, screen.watchers_socket
        acts = {"act": service.act_of_viewer, LEFT: service.viewer_left}
        questions = {"world": service.show_world, **acts, **self._questions}
        sound = screen.xauthority.with_name(SOUND_FILE)
        views = Views(
            self.status, service.render_metrics, lambda: screen.answers, *sockets, vnc_proxy.take, sound, questions
        )
        operations = Operations(service.leases, lambda: service.status()["env_id"], service.restart, self.drain)
        app, self._viewers = make_app(service.sessions, http_auth, views, operations)
        clients = ScreenClients(screen, manifest, service)
        runner: web.AppRunner | None = None
        try:
            await service.start(env_id)
            await clients.put_on()
            context = None if self.certificate is None else self.certificate.context
            runner = await listen(app, http_auth, settings.host, settings.rewarder_port, context)
            on_start(manifest)
            await self._serve(screen, clients, service, http_auth, failure)
        finally:
            await service.stop(SHUTDOWN_REASON)
            await clients.clear()
            if runner is not None:
                await runner.cleanup()

    async def _serve(
        self,
        screen: Screen,
        clients: ScreenClients,
        service: EnvironmentService,
        http_auth: HttpAuth,
        failure: asyncio.Future[TaskFailed],
    ) -> None:
        beside = [start_task(_keep_screen(screen, clients, service), "screen")]
        if self.certificate is not None and self.settings.tls_cert is not None:
            beside.append(start_task(self.certificate.follow(), "certificate"))
        # A pipe is read once.
        if (path := self.settings.tokens_file) is not None and path.is_file():
            beside.append(start_task(watch(path, self.settings.password, http_auth.secrets), "tokens"))
        stopping = asyncio.create_task(self._stopping.wait(), name="stop")
        try:
            ends: set[asyncio.Future[Any]] = {stopping, service.mistake, service.gave_up, failure}
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            if service.mistake.done():
                raise service.mistake.result()
            if service.gave_up.done():
                raise GaveUp(service.gave_up.result())
            if failure.done():
                raise failure.result()
        finally:
            for task in (*beside, stopping):
                task.cancel()
            await asyncio.wait({*beside, stopping})

    def _changed(self) -> None:
        if self._screen is not None and self._service is not None:
            self._screen.rest(resting=self._service.is_at_rest)
        if self._viewers is not None:
            self._viewers.changed()

    def _clients_changed(self) -> None:
        if self._service is not None:
            self._service.watchers_changed()

    def _has_seat(self, token: str | None) -> bool:
        return self.service.sessions.has_seat(token)

    def _screen_options(self, manifest: Manifest, runtime_dir: Path, secrets: Secrets) -> ScreenOptions:
        settings, loop = self.settings, asyncio.get_running_loop()
        return ScreenOptions(
            width=manifest.runtime.screen.width,
            height=manifest.runtime.screen.height,
            vnc_port=settings.vnc_port,
            vnc_host=settings.host,
            secrets=secrets if settings.vnc_password else None,
            backend=settings.display_backend,
            runtime_dir=runtime_dir,
            name=f"pluriverse {manifest.runtime.id}",
            has_port=not settings.has_tls,
            on_clients=lambda: loop.call_soon_threadsafe(self._clients_changed),
        )


async def _keep_screen(screen: Screen, clients: ScreenClients, service: EnvironmentService) -> None:
    """Restart what has died of the screen, for as long as that takes."""
    while True:
        death = await screen.wait_for_exit()
        log.warning("the %s died (%s); starting it again", death.name, death.how)
        service.part_died(death.name, death.how, counts=not death.had_clients)
        if death.name == X_SERVER:
            await clients.take_off(f"{death.name} {death.how}")
        if await _restart(screen) is Restarted.EVERYTHING:
            await clients.take_off(f"{death.name} {death.how}")
            await clients.put_on()


async def _restart(screen: Screen) -> Restarted:
    try:
        return await screen.restart_dead()
    except (StartError, OSError) as error:
        log.warning("the screen can't be restarted: %s; retrying every %g s", error, RETRY_S)
    while True:
        await asyncio.sleep(RETRY_S)
        try:
            await screen.start()
        except (StartError, OSError) as error:
            log.warning("the screen can't be restarted: %s", error)
        else:
            log.info("the screen is back")
            return Restarted.EVERYTHING


def _make_folder() -> PrivateFolder:
    try:
        return PrivateFolder()
    except OSError as error:
        mend = "in a read-only container add: --tmpfs /tmp; elsewhere make room in /tmp, or export TMPDIR=DIR"
        raise StartError(f"there is no place for temporary files: {error}; {mend}") from error


def _certificate(settings: Settings) -> Certificate | None:
    if not settings.has_tls:
        return None
    if settings.tls_cert is None or settings.tls_key is None:
        return Certificate.made((settings.host,))
    try:
        return Certificate(settings.tls_cert, settings.tls_key)
    except CertificateError as error:
        raise StartError(f"can't set up TLS: {error}; to generate a certificate use only --tls") from error
