"""Serves a recording to the viewer's page, which labels it; on this machine only, at an address that can't be guessed.

======================  ==============================================================
``/TOKEN/?label``       the page
``/TOKEN/recording``    what there is to label, as JSON
``/TOKEN/frames/N.png`` picture N
``/TOKEN/labels``       PUT: the labels, which are saved at once
======================  ==============================================================
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

from aiohttp import web
from pluriverse_protocol.recordings import MalformedRecording
from pluriverse_server.console.serve import stopped_by_signals
from pluriverse_server.manifest.game import OWN_SOURCES, GameTables
from pluriverse_server.manifest.runtime import ManifestError, describe
from pluriverse_server.manifest.sources import (
    AnySource,
    MemorySource,
    PythonSource,
    ScreenSource,
    TemplateSource,
    TextSource,
)
from pluriverse_server.viewer.web_app import WebApp
from pydantic import ValidationError

from pluriverse_authoring import AuthoringError
from pluriverse_authoring.labels import (
    Labels,
    game_of,
    labels_path,
    read_labels,
    write_table,
)

from .frames import RecordedFrames, changes, events

STOPPED: Final = "Ctrl-C stops it; all labels are saved."

HOST: Final = "127.0.0.1"

# 128 bits, against other pages and other users of this machine.
TOKEN_BYTES: Final = 16

# The state of a change that no source has read.
CHANGED: Final = "changed"

# As JSON and the page call them.
Kind = Literal["number", "string", "boolean"]


@dataclass(frozen=True, slots=True)
class Known:
    """A source's ``region``, if it is on the screen, and the ``kind`` of its values, if it is known."""

    region: list[int] | None = None
    kind: Kind | None = None


@dataclass(frozen=True, slots=True)
class RewardSource:
    """Each change of ``source``, times ``scale``, is reward; ``begins`` is its first value if nothing is read."""

    source: str
    scale: float
    begins: float | None = None


class LabelServer:
    """Serves one recording's page, and keeps its labels beside it."""

    def __init__(
        self,
        path: Path,
        recorded: RecordedFrames,
        known: Mapping[str, Known],
        earned: Sequence[RewardSource] | None = None,
    ) -> None:
        """``recorded`` is the recording at ``path``; ``known`` are its sources by name.

        With ``earned`` the page can compute the rewards from the labels of sources.
        """
        self._recorded = recorded
        self._path = path
        self._labels_path = labels_path(path)
        self._labels = read_labels(self._labels_path) if self._labels_path.exists() else Labels(recording=path.name)
        self._known = known
        self._earned = earned
        self._saving = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def serving(self, port: int = 0) -> AsyncGenerator[str]:
        """Serve within the context, which yields the page's address; raise OSError if the port is taken (0: any)."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        runner = web.AppRunner(self._app(token), shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.TCPSite(runner, HOST, port).start()
            yield f"http://{HOST}:{runner.addresses[0][1]}/{token}/?label"
        finally:
            await runner.cleanup()

    def _app(self, token: str) -> web.Application:
        page = WebApp()
        page.serve_page()
        page.serve("GET", "/recording", self._recording)
        page.serve("GET", r"/frames/{index:\d{1,9}}.png", self._frame)
        page.serve("PUT", "/labels", self._take_labels)
        app = web.Application()
        app.add_subapp(f"/{token}/", page.app)
        return app

    async def _recording(self, _: web.Request) -> web.StreamResponse:
        recorded, header = self._recorded, self._recorded.header
        read = changes(recorded)
        regions = {name: known.region for name, known in self._known.items() if known.region is not None}
        for name, region in regions.items():
            if name not in read:
                # Nothing has read it yet: offer the changes of the picture instead.
                read[name] = await asyncio.to_thread(_moved, recorded, region)
        sources = {
            name: {
                "changes": read.get(name, []),
                **asdict(self._known.get(name, Known())),
            }
            for name in dict.fromkeys((*regions, *read, *self._labels.sources))
        }
        return web.json_response(
            {
                "name": self._path.name,
                "saved_as": str(self._labels_path),
                "env_id": header.env_id,
                "width": header.width,
                "height": header.height,
                "seconds": recorded.seconds,
                "frames": recorded.times,
                "damage": recorded.damage,
                "sources": sources,
                "events": events(recorded),
                "earned": None if self._earned is None else [asdict(earned) for earned in self._earned],
                "labels": self._labels.model_dump(),
            }
        )

    async def _frame(self, request: web.Request) -> web.StreamResponse:
        try:
            png = await asyncio.to_thread(self._recorded.png, int(request.match_info["index"]))
        except IndexError:
            raise web.HTTPNotFound(text="no such picture") from None
        return web.Response(body=png, content_type="image/png", headers={"Cache-Control": "max-age=3600, immutable"})

    async def _take_labels(self, request: web.Request) -> web.StreamResponse:
        try:
            labels = Labels.model_validate_json(await request.read())
            async with self._saving:
                await asyncio.to_thread(write_table, self._labels_path, labels)
        except ValidationError as error:
            raise web.HTTPBadRequest(text=describe(Path(self._labels_path.name), error)) from error
        except OSError as error:
            raise web.HTTPInsufficientStorage(text=f"{self._labels_path}: {error.strerror}") from error
        self._labels = labels
        return web.Response(status=204)


def _moved(recorded: RecordedFrames, region: Sequence[int]) -> list[tuple[float, None, None, str]]:
    return [(at, None, None, CHANGED) for at, _, _ in recorded.changes_of(region)]


async def label_recording(path: Path, port: int, say: Callable[[str], None]) -> None:
    """Serve the page at ``port`` (0: any free one) until a signal; ``say`` prints its address."""
    enough = asyncio.Event()
    async with stopped_by_signals(enough.set), contextlib.AsyncExitStack() as until:
        try:
            recorded = await asyncio.to_thread(RecordedFrames, path)
            until.callback(recorded.close)
            try:
                known, earned = what_is_read(game_of(path, recorded.header))
            except ManifestError as error:
                say(f"{error}\nso the page shows only the sources' recorded readings")
                known, earned = {}, None
            server = LabelServer(path, recorded, known, earned)
        except MalformedRecording as error:
            raise AuthoringError(str(error)) from error
        except OSError as error:
            raise AuthoringError(f"{error.filename or path}: {error.strerror}") from error
        try:
            address = await until.enter_async_context(server.serving(port))
        except OSError as error:
            raise AuthoringError(f"the page can't be served: {error.strerror or error}") from error
        say(f"{path}\n  label     {address}\n{STOPPED}")
        await enough.wait()


def what_is_read(game: GameTables) -> tuple[dict[str, Known], list[RewardSource] | None]:
    """Return the sources, and those whose changes are reward, or None if there are rewards of other kinds.

    Reward for time doesn't count: it isn't scored, since it follows from the labels of its source.
    """
    known = {
        name: Known(source.region if isinstance(source, ScreenSource) else None, _kind(source))
        for name, source in game.sources.items()
    }
    rewards = [reward for reward in game.rewards if reward.give != "second"]
    plain = all(
        reward.give == "change" and reward.when is None and reward.source not in OWN_SOURCES for reward in rewards
    )
    if not game.rewards or not plain:
        return known, None
    return known, [RewardSource(reward.source, reward.scale, reward.begins) for reward in rewards]


def _kind(source: AnySource) -> Kind | None:
    match source:
        case TextSource():
            return "string"
        case TemplateSource():
            return "boolean"
        case PythonSource():
            return None
        case ScreenSource() | MemorySource():
            return "number"
        case _:
            # Lines, files and widgets may have values of any kind.
            return None
