"""Serves the page that labels one recording, until Ctrl-C."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pluriverse_protocol.recordings import Header, MalformedRecording

from pluriverse_server.console.serve import stopped_by_signals
from pluriverse_server.manifest.game import OWN_SOURCES, GameTables
from pluriverse_server.manifest.runtime import ManifestError, load
from pluriverse_server.manifest.sources import AnySource, MemorySource, ScreenSource, TemplateSource, TextSource

from .label.film import Film
from .label.server import Earned, Kind, Known, LabelServer
from .labels import LabelsError

STOPPED: Final = "Ctrl-C ends it; every label is saved already."


class LabelError(Exception):
    """A recording that can't be labelled; the message says why."""


async def label_recording(path: Path, port: int, say: Callable[[str], None]) -> None:
    """Serve the page at ``port`` (0: a free one) and ``say`` its address, until a signal ends it.

    Raises:
        LabelError: the recording or its labels can't be read, or the port is taken.
    """
    enough = asyncio.Event()
    film: Film | None = None
    async with stopped_by_signals(enough.set):
        try:
            film = await asyncio.to_thread(Film, path)
            try:
                known, earned = what_is_read(game_of(path, film.header))
            except ManifestError as error:
                say(f"{error}\nso the page knows of the sources only what was read of them")
                known, earned = {}, None
            server = LabelServer(path, film, known, earned)
            async with server.serving(port) as address:
                say(f"{path}\n  label     {address}\n{STOPPED}")
                await enough.wait()
        except (MalformedRecording, LabelsError) as error:
            raise LabelError(str(error)) from error
        except OSError as error:
            raise LabelError(f"{error.filename or path}: {error.strerror}") from error
        finally:
            if film is not None:
                film.close()


def game_of(recording: Path, header: Header) -> GameTables:
    """How the recorded program is read, by the runtime in whose folder the recording lies.

    Raises:
        ManifestError: there is no such folder around it, or it can't be used.
    """
    directory = recording.resolve().parent.parent
    manifest = load(directory)
    if manifest.runtime.id != header.runtime:
        raise ManifestError(f"{recording} is a recording of {header.runtime}, and {directory} is {manifest.runtime.id}")
    return manifest.game(header.env_id)


def what_is_read(game: GameTables) -> tuple[dict[str, Known], list[Earned] | None]:
    """The sources, and which of them have changes that are reward; None if there is reward of another kind.

    Reward for time is no such kind: it isn't scored, since it follows from the labels of its source.
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
    return known, [Earned(reward.source, reward.scale, reward.begins) for reward in rewards]


def _kind(source: AnySource) -> Kind | None:
    match source:
        case TextSource():
            return "string"
        case TemplateSource():
            return "boolean"
        case ScreenSource() | MemorySource():
            return "number"
        case _:
            # Whatever a line, a file or a widget says.
            return None
