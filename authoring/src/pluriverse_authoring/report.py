"""The results of scoring: NAME.report.json, pictures, and a table."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from PIL import Image, ImageDraw
from pluriverse_server.manifest.runtime import Manifest
from rich import box
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from pluriverse_authoring.recording.replay import Replay

from .compare import Matched, median_and_largest
from .judge import Disagreement, Result
from .labels import beside

REPORT_SUFFIX: Final = ".report.json"
PICTURES_SUFFIX: Final = ".disagreements"

# So many have the same few causes.
MAX_PICTURES: Final = 100

# Microseconds: beyond that floats differ between machines.
DIGITS: Final = 6

OUTLINE: Final = "#ff2020"

_LEGEND: Final = (
    "rewards, ends: how many are true, and precision/recall in %; sum: true/given, ± how far they ever were apart; "
    "delay: median/largest"
)


def as_json(recording: Path, result: Result) -> dict[str, Any]:
    """Return the content of NAME.report.json, which only depends on recording, labels and sources."""
    report: dict[str, Any] = {
        "recording": recording.name,
        "environment": result.environment,
        "seconds": result.seconds,
        "perfect": result.perfect,
        "reward": _shares(result.rewards, result.fps),
        "done": _shares(result.dones, result.fps),
        "apart": result.apart,
        "max_delay_s": result.max_delay_s,
        "episodes": [asdict(episode) for episode in result.episodes],
        "wrong_episodes": result.wrong_episodes,
        "by_second": [asdict(one) for one in result.by_second],
        "readings": {name: asdict(count) for name, count in result.readings.items()},
        "disagreements": [asdict(disagreement) for disagreement in result.disagreements],
    }
    return json.loads(json.dumps(report), parse_float=lambda text: round(float(text), DIGITS))


def write_report(recording: Path, result: Result, manifest: Manifest) -> None:
    """Write NAME.report.json, and a picture of each disagreement to NAME.disagreements."""
    document = json.dumps(as_json(recording, result), indent=1, sort_keys=True, ensure_ascii=False)
    beside(recording, REPORT_SUFFIX).write_text(document + "\n", encoding="utf-8")
    folder = beside(recording, PICTURES_SUFFIX)
    # Older pictures would only confuse.
    shutil.rmtree(folder, ignore_errors=True)
    if result.disagreements:
        folder.mkdir()
        _write_pictures(recording, result, manifest, folder)


def print_results(
    results: Mapping[Path, Result],
    unlabelled: Sequence[Path],
    missing: Mapping[str, Sequence[str]],
    never: Mapping[str, Sequence[str]],
    console: Console,
    *,
    written: bool,
) -> None:
    """Print a table with a line for each recording, and where its disagreements are, if they were ``written``.

    Then what keeps the score from being one: recordings ``unlabelled``, and what is ``missing`` of an environment.
    Then the ends that ``never`` occurred.
    """
    alike = Counter(path.name for path in [*results, *unlabelled])
    table = Table(Column("recording", overflow="fold"), box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in ("rewards", "sum", "episodes", "ends", "delay, s", "misread"):
        table.add_column(column, justify="right")
    for path, result in results.items():
        table.add_row(
            Text(path.name if alike[path.name] == 1 else str(path)),
            _compared(result.rewards),
            _sums(result),
            _episodes(result),
            _compared(result.dones),
            _delays(result),
            str(sum(one.wrong for one in result.readings.values())),
            style="green" if result.perfect and result.compared else "red",
        )
    for path in unlabelled:
        table.add_row(Text(path.name if alike[path.name] == 1 else str(path)), "no labels", style="red")
    console.print(table)
    console.print(_LEGEND, style="dim")
    for path, result in results.items():
        entered, accepted = result.labels
        unseen = "" if entered or not accepted else "; not compared with the picture by a person"
        _say(console, f"{path}: {entered} labels entered by a person, {accepted} accepted as read{unseen}")
        if not result.perfect:
            where = f"; see {beside(path, PICTURES_SUFFIX)}" if written else ""
            _say(console, f"{path}: {len(result.disagreements)} disagreements{where}")
        if not result.compared:
            _say(console, f"{path}: nothing compared: neither it nor its labels have a reward or an end")
        if result.recorded_with is not None:
            what = "readings other than the screen's are that version's"
            _say(console, f"{path}: warning: recorded with version {result.recorded_with} of the runtime: {what}")
    for path in unlabelled:
        _say(console, f"{path}: not compared: it has no labels; make them with: pluriverse-server label {path}")
    for env_id, rules in missing.items():
        for rule in rules:
            _say(console, f"{env_id}: nothing compared of its {rule}: no recording has any; record one that does")
    for env_id, ends in never.items():
        for end in ends:
            _say(console, f"{env_id}: {end} never occurred; record an episode that ends so")


def _say(console: Console, text: str) -> None:
    """Print on one line however narrow the terminal is, to be copied."""
    console.print(Text(text), soft_wrap=True)


def _write_pictures(recording: Path, result: Result, manifest: Manifest, folder: Path) -> None:
    shown = result.disagreements[:MAX_PICTURES]
    for index, (one, picture) in enumerate(_pictures(recording, shown), 1):
        draw = ImageDraw.Draw(picture)
        for x, y, width, height in _regions(manifest, result.environment, one.sources):
            draw.rectangle((x - 2, y - 2, x + width + 1, y + height + 1), outline=OUTLINE, width=2)
        picture.save(folder / f"{index:03} {one.kind} at {one.at:.2f} s.png")


def _pictures(recording: Path, disagreements: Sequence[Disagreement]) -> Iterator[tuple[Disagreement, Image.Image]]:
    """Yield each disagreement with the screen at its time; they are sorted by time."""
    waiting = list(disagreements)
    replay = Replay(recording)
    for moment in replay.cycles(replay.header.fps):
        while waiting and waiting[0].at <= moment.at:
            size = (replay.header.width, replay.header.height)
            yield waiting.pop(0), Image.frombuffer("RGB", size, moment.frame.tobytes(), "raw", "BGRX", 0, 1).copy()


def _regions(manifest: Manifest, environment: str, sources: Sequence[str]) -> list[list[int]]:
    tables = manifest.game(environment).screen_sources
    return [tables[name].region for name in sources if name in tables]


def _shares(matched: Matched[Any], fps: float) -> dict[str, Any]:
    median, largest = median_and_largest(matched.delays)
    return {
        "true": len(matched.pairs) + len(matched.missed),
        "false": len(matched.false),
        "missed": len(matched.missed),
        "precision": matched.precision if matched.compared else None,
        "recall": matched.recall if matched.compared else None,
        "delay_frames": {"median": median * fps, "largest": largest * fps},
    }


def _compared(matched: Matched[Any]) -> str:
    """Format how many are true, with precision and recall, rounded down: 100 means that nothing is wrong."""
    if not matched.compared:
        return "nothing compared"
    count = len(matched.pairs) + len(matched.missed)
    return f"{count}: {_floor(matched.precision)}/{_floor(matched.recall)}"


def _sums(result: Result) -> str:
    """Format what was truly earned, what was given, and how far these sums ever were apart."""
    true, given = sum(one.true for one in result.episodes), sum(one.scraped for one in result.episodes)
    return f"{true:g}/{given:g}" + (f" ±{result.apart:g}" if result.apart else "")


def _episodes(result: Result) -> str:
    count = len(result.begins.pairs) + len(result.begins.missed)
    return f"{count}, {result.wrong_episodes} wrong" if result.wrong_episodes else str(count)


def _delays(result: Result) -> str:
    delays = [*result.rewards.delays, *result.dones.delays]
    return "/".join(f"{delay:.2f}" for delay in median_and_largest(delays)) if delays else ""


def _floor(share: float) -> str:
    return f"{int(share * 1000) / 10:g}"
