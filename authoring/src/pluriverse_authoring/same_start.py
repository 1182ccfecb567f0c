"""Starts a program with several seeds in lockstep, and compares what it shows: is its ``same_start`` true?"""

from __future__ import annotations

import random
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from pluriverse_protocol.events import KeyEvent
from pluriverse_server.display.xserver import XServer
from pluriverse_server.lockstep import Advance
from pluriverse_server.manifest.runtime import EnvTable, Manifest
from pluriverse_server.process import StartError, executable
from pluriverse_server.scraper.cookies import Cookies
from pluriverse_server.scraper.lockstep import HANGS
from pluriverse_server.scraper.pace import HANG_S, SteppedPace
from pluriverse_server.scraper.play import Play, PlaySettings, SharedDesktop
from pluriverse_server.scraper.player import Broken
from pluriverse_server.x11.connection import write_cookie

SEEDS: Final = range(5)

# How long is played on after each start, with the same random choices, each of which is held for a while.
PLAYED_S: Final = 10.0
CHOICE_S: Final = 0.25


class NotTheSame(Exception):
    """An environment's starts differ; the message says how, and what to do."""


async def compare_starts(directory: Path, manifest: Manifest, entry: EnvTable) -> int:
    """Return of how many different pictures an environment's starts are the same; raise NotTheSame if they aren't."""
    size = manifest.runtime.screen
    with tempfile.TemporaryDirectory(prefix="") as name:
        folder = Path(name)
        write_cookie(folder / "cookie")
        try:
            command = [executable("Xvfb", package="xvfb"), "-screen", "0", f"{size.width}x{size.height}x24"]
            server = await XServer.start(command, xauthority=folder / "cookie")
        except StartError as error:
            raise NotTheSame(str(error)) from error
        screen = {"DISPLAY": server.display, "XAUTHORITY": str(folder / "cookie")}
        cookies = Cookies(folder / "Xauthority")
        cookies.add(screen)
        desktop = SharedDesktop(screen, (size.width, size.height), folder, cookies, locale=manifest.runtime.locale)
        try:
            first = await _shown(directory, manifest, entry, desktop, SEEDS[0])
            for seed in SEEDS[1:]:
                shown = await _shown(directory, manifest, entry, desktop, seed)
                if shown[0] != first[0]:
                    raise NotTheSame(
                        f"another screen with seed {seed} than with {SEEDS[0]} when it is ready; remove it"
                    )
                if shown != first:
                    raise NotTheSame(
                        f"started with seed {seed} it goes on in another way than with {SEEDS[0]}, though it draws the "
                        "same from then on: all its episodes would be alike; remove it"
                    )
        except Broken as error:
            raise NotTheSame(f"its starts can't be compared: {error}") from error
        finally:
            await desktop.clear()
            await server.stop()
    return len({*first})


async def _shown(
    directory: Path, manifest: Manifest, entry: EnvTable, desktop: SharedDesktop, seed: int
) -> Sequence[int]:
    """Return checksums of the whole screen after a start with ``seed``, and after each frame from then on."""
    game, environment = manifest.game(entry.id), manifest.environment(entry)
    assert game.program is not None
    seeded = game.model_copy(
        update={
            "program": game.program.model_copy(update={"same_start": False}),
            "episode": game.episode.model_copy(update={"picture": None}),
        }
    )
    settings = PlaySettings(directory, seeded, entry, seed, environment.fps, environment.options, lockstep=True)
    play = await Play.start(settings, desktop, lambda _, __: None)
    try:
        await play.prepare(settings)
        if play.is_frozen or not isinstance(play.pace, SteppedPace) or play.still is None:
            raise Broken("it is stopped between steps, and its chance is real")
        seen = [zlib.crc32(play.see()[0].tobytes())]
        play.begin(0, replace(settings, seed=SEEDS[0]))
        spaces = manifest.spaces_of(entry)
        chance, held = random.Random(SEEDS[0]), set[int]()  # noqa: S311
        for frame in range(round(PLAYED_S * environment.fps)):
            if spaces is not None and spaces.discrete and frame % round(CHOICE_S * environment.fps) == 0:
                wanted = set(chance.choice(spaces.discrete).keys)
                play.still.apply([KeyEvent(key, down=key in wanted) for key in sorted(held ^ wanted)])
                held = wanted
            answer = play.pace.step(HANG_S)
            if answer is Advance.LATE:
                raise Broken(HANGS)
            if answer is Advance.ENDED:
                break
            seen.append(zlib.crc32(play.see()[0].tobytes()))
        return seen
    finally:
        await play.stop()
