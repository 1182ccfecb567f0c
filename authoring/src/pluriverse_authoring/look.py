"""Runs a program that nothing is known of, and writes into its runtime.toml what a person chooses in the viewer."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pluriverse_server.console.serve import greet, stopped_by_signals
from pluriverse_server.manifest.runtime import Manifest, ManifestError
from pluriverse_server.remote.remote import Remote
from pluriverse_server.settings import Settings
from pluriverse_server.sources.reading import Pixels, SourceError
from pluriverse_server.sources.screen.grab import Grabber, ScreenLost
from pluriverse_server.viewer.routes import Question, Refused

from . import AuthoringError
from .frames import pixels_of, png_of
from .region import Proposer
from .runtime_file import RuntimeFile


class Look:
    """A look at the runtime of ``file``; ``run`` until ``stop``."""

    def __init__(self, file: RuntimeFile, settings: Settings) -> None:
        self._file = file
        self._settings = settings
        self._proposer = Proposer(file.folder)
        self._proposing = asyncio.Lock()
        self._remote: Remote | None = None
        self._stopped = False

    async def run(self) -> None:
        """Run the remote, again each time that the viewer asks for it; raises as ``Remote.run``."""
        questions: dict[str, Question] = {
            word: functools.partial(_answer, ask)
            for word, ask in (
                ("read", self._read),
                ("reread", self._reread),
                ("choose", self._choose),
                ("restart", self._restart),
            )
        }
        greeted = False

        def on_start(manifest: Manifest) -> None:
            nonlocal greeted
            if not greeted:
                greet(self._settings, manifest, "&readings=1&control=1&look=1")
                greeted = True

        while not self._stopped:
            self._remote = Remote(self._settings, questions)
            await self._remote.run(on_start)

    def stop(self) -> None:
        self._stopped = True
        if self._remote is not None:
            self._remote.stop()

    async def _read(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        x, y, width, height = (int(each) for each in asked["region"])
        pixels = await asyncio.to_thread(self._grab, (x, y, width, height))
        async with self._proposing:
            found, missing = await asyncio.to_thread(self._proposer.propose, pixels, (x, y, width, height))
        return {
            "picture": base64.b64encode(png_of(pixels)).decode(),
            "proposals": [{"how": it.how, "value": it.value, "sure": it.sure, "table": it.table} for it in found],
            "missing": missing,
        }

    async def _reread(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Read the picture of the last region by a table that a person has edited."""
        pixels = pixels_of(base64.b64decode(asked["picture"]))
        async with self._proposing:
            value, sure = await asyncio.to_thread(self._proposer.read, asked["table"], pixels)
        return {"value": value, "sure": round(sure, 3)}

    def _grab(self, region: Sequence[int]) -> Pixels:
        assert self._remote is not None
        screen = self._remote.screen.environment
        with contextlib.closing(
            Grabber(screen["DISPLAY"], [region], ["the region"], Path(screen["XAUTHORITY"]))
        ) as grabber:
            return grabber.grab()[0]

    async def _choose(self, asked: Mapping[str, Any]) -> None:
        picture = base64.b64decode(asked["picture"])
        self._file.add_source(str(asked["name"]), asked["table"], reward=bool(asked.get("reward")), picture=picture)

    async def _restart(self, _: Mapping[str, Any]) -> None:
        self._file.check()
        assert self._remote is not None
        self._remote.stop()


async def _answer(question: Question, asked: Mapping[str, Any]) -> Any:
    try:
        return await question(asked)
    except (AuthoringError, ManifestError, SourceError, ScreenLost) as error:
        raise Refused(str(error)) from error


async def look(file: RuntimeFile, settings: Settings) -> None:
    """Look at a runtime until a signal; raises as ``Remote.run``."""
    looking = Look(file, settings)
    async with stopped_by_signals(looking.stop):
        await looking.run()
