"""``report.html``: a page of what came of a run, with films of it beside."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Final

from pluriverse.errors import ConfigurationError

from .films import write_film
from .plot import Point, plot
from .results import ENDS, Episode, Folder, Run
from .statistics import ENOUGH, FEWEST
from .table import Cell, Table, tabulate
from .tables import Sheet, lags, scores

PAGE: Final = "report.html"
FILMS: Final = "films"

_STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
.wide { overflow-x: auto; }
.wide svg { height: auto; max-width: 100%; }
h1 { font-size: clamp(1.3rem, 4vw, 2rem); overflow-wrap: anywhere; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid #8888; white-space: nowrap; }
.films { display: grid; grid-template-columns: repeat(auto-fill, minmax(240px, 1fr)); gap: 1.2rem 1rem; }
figure { margin: 0; }
figure img { width: 100%; background: #000; display: block; aspect-ratio: 4 / 3; object-fit: contain; }
"""


def write_report(folder: Folder, *, report: Callable[[str], object]) -> tuple[Path, Run, Table]:
    """Write the page and its films; return its path, and what it is of. ``report`` is called with what could not be."""
    run, episodes = folder.read()
    if not episodes:
        raise ConfigurationError(f"{folder.path} has no results yet")
    table = tabulate(episodes, run.tasks, run.modes)
    page = folder.path / PAGE
    try:
        films = _write_films(folder, table, report)
        page.write_text("\n".join(_page(run, episodes, table, films)), encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{error.filename or page} can't be written: {error.strerror}") from error
    return page, run, table


def _write_films(folder: Folder, table: Table, report: Callable[[str], object]) -> dict[tuple[str, str], str]:
    """Write a film of the median run of each cell, unless it exists; return their paths within the folder."""
    (folder.path / FILMS).mkdir(exist_ok=True)
    films: dict[tuple[str, str], str] = {}
    for key, cell in table.cells.items():
        if cell.median.recording is None:
            continue
        recording = folder.path / cell.median.recording
        film = f"{FILMS}/{recording.stem}.webp"
        try:
            if not (folder.path / film).exists():
                write_film(recording, folder.path / film)
            films[key] = film
        except ConfigurationError as error:
            report(f"no film of {cell.median.recording}: {error}")
    return films


def _page(run: Run, episodes: Sequence[Episode], table: Table, films: dict[tuple[str, str], str]) -> Iterable[str]:
    title = f"{run.agent} on {run.suite} {run.suite_version}"
    yield f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
    yield f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>'
    yield f"<h1>{escape(title)}</h1>"
    began = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(run.began))
    yield f"<p>{len(episodes)} episodes, {len(table.tasks)} tasks, {began}. "
    yield "Scores are normalised: 0 is a random agent, 100 the reference or better. In brackets: the 95 % confidence "
    yield f"interval, by bootstrap. Below {FEWEST} episodes of a task it is omitted, below {ENOUGH} "
    yield "it is rough and the number of episodes is shown.</p>"
    if table.all:
        yield f"<h2>What time costs</h2><p>All {table.counted} tasks that were played in every mode.</p>"
        points = [Point(mode, cell.reaction_ms or 0.0, cell.score) for mode, cell in table.all.items()]
        yield f'<div class="wide">{plot(points)}</div>'
    yield "<h2>Scores</h2><p>“0 is” and “100 is”: the rewards of a random agent and of the reference per episode. "
    yield f"“earned”: this agent's mean reward.</p>{_wide(scores(table, run.scales))}"
    yield "<h2>Lags</h2><p>Milliseconds: medians over episodes. A reaction is the game time from the frame that the "
    yield "agent saw last to its first event; the other lags are the bounds that the remote and the client measure.</p>"
    yield _wide(lags(episodes, table.modes))
    yield "<h2>Median runs</h2><p>Each task has a budget, the game time after which its episode is stopped.</p>"
    for mode in table.modes:
        yield f'<h3>{escape(mode)}</h3><div class="films">'
        for task in table.tasks:
            if (task, mode) in films:
                yield _film(films[task, mode], table.cells[task, mode])
        yield "</div>"
    yield from _made_of(run, episodes)
    yield "</body></html>\n"


def _wide(sheet: Sheet) -> str:
    return f'<div class="wide">{sheet.text("html")}</div>'


def _film(film: str, cell: Cell) -> str:
    episode = cell.median
    return (
        f'<figure><img src="{escape(film)}" loading="lazy" alt="film of {escape(episode.task)}"><figcaption>'
        f"{escape(episode.task)}, seed {episode.seed}: earned {episode.earned:g}, score {episode.score:z.0f}, "
        f"{ENDS[episode.ended]} after {episode.game_s:.1f} s</figcaption></figure>"
    )


def _made_of(run: Run, episodes: Sequence[Episode]) -> Iterable[str]:
    versions = [f"{name} {version}" for name, version in run.versions.items()]
    versions += sorted({episode.runtime for episode in episodes})
    seeds = ", ".join(map(str, run.seeds))
    yield f"<h2>Versions and seeds</h2><p>Suite {escape(run.suite)} {run.suite_version}, digest {run.digest}. "
    yield f"{escape('; '.join(versions))}.</p><p>Seeds {seeds}.</p>"
    errors = sorted({f"{episode.task}: {episode.error}" for episode in episodes if episode.error is not None})
    if errors:
        yield "<h2>Failures</h2><ul>"
        yield from (f"<li>{escape(error)}</li>" for error in errors)
        yield "</ul>"
