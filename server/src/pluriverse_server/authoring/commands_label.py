"""Serves the page that labels one recording, until Ctrl-C."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Final

from pluriverse_protocol.recordings import Header, MalformedRecording

from pluriverse_server.manifest import ManifestError, load
from pluriverse_server.manifest_game import GameTables
from pluriverse_server.manifest_sources import ScreenSource
from pluriverse_server.serving import stopped_by_signals

from .label.film import Film
from .label.server import Earned, LabelServer
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
            game = game_of(path, film.header)
            server = LabelServer(path, film, *(what_is_read(game) if game is not None else ({}, [])))
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


def game_of(recording: Path, header: Header) -> GameTables | None:
    """How the recorded program is read, if the recording lies in its runtime's folder."""
    try:
        manifest = load(recording.resolve().parents[1])
    except (ManifestError, IndexError):
        return None
    return manifest.game(header.env_id) if manifest.runtime.id == header.runtime else None


def what_is_read(game: GameTables) -> tuple[dict[str, list[int]], list[Earned]]:
    """Where the sources on the screen are read, and which sources' changes are reward, if nothing else is."""
    regions = {name: source.region for name, source in game.sources.items() if isinstance(source, ScreenSource)}
    plain = all(reward.give == "change" and reward.when is None for reward in game.rewards)
    return regions, [Earned(reward.source, reward.scale) for reward in game.rewards] if plain else []
