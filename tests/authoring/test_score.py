"""Scoring: recordings that are made here, of which the truth is known, are read again and compared with it."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from pluriverse_authoring import AuthoringError
from pluriverse_authoring.labels import LabelledEpisode, Labels, labels_path, write_table
from pluriverse_authoring.score import score
from pluriverse_protocol import reports
from pluriverse_protocol.recordings import Header, Record, Said, Update
from pluriverse_protocol.rfb.raw_updates import raw_update
from rich.console import Console
from support.recorded import recorded

MANIFEST = """
[runtime]
id = "toy"
version = "1.0.0"
title = "Toy"
default_env = "toy.Bar-v0"
screen = { width = 64, height = 48 }
[program]
command = ["true"]
[reset]
by = "restart"
[sources.points]
from = "screen"
read = "bar"
region = [4, 4, 50, 4]
colour = "#00ff00"
[sources.over]
from = "screen"
read = "colour"
region = [4, 20, 10, 10]
colour = "#ff0000"
[sources.coins]
from = "log"
pattern = "coin"
[[rewards]]
source = "points"
scale = 50
[[rewards]]
source = "coins"
give = "event"
scale = 7
[episode]
done = { lost = "over > 0.5" }
[[envs]]
id = "toy.Bar-v0"
"""
HEADER = Header("toy", "1.0.0", "toy.Bar-v0", 64, 48, 50.0, 1000.0)
GREEN, RED, BLACK = b"\0\xff\0\0", b"\0\0\xff\0", b"\0\0\0\0"


def paint(at: float, x: int, y: int, width: int, height: int, colour: bytes) -> Update:
    return Update(at, raw_update([((x, y, width, height), colour * (width * height))]))


def points(at: float, count: int) -> Update:
    return paint(at, 4, 4, count, 4, GREEN)


def say(at: float, report: reports.Report) -> Said:
    return Said(at, json.loads(reports.encode_line(report)))


def coins(at: float, count: int) -> Said:
    reading = {"value": count, "raw": count, "confidence": 1.0, "state": "ok", "events": 1, "lag_ms": 0.1}
    return say(at, reports.Readings(1, {"coins": reading}, 1000 + at))


def begin(at: float, episode: int) -> Said:
    return Said(at, {"event": "begin", "episode": episode, "env": "toy.Bar-v0", "seed": 1, "fps": 50.0})


# An episode of 3 s that earns 10 and 7 and ends, and another that its time limit ends.
RECORDS: list[Record] = [
    begin(0.0, 1),
    say(0.1, reports.Readings(1, {"coins": {"raw": 0, "value": 0, "confidence": 1.0, "events": 0}}, 1000.1)),
    paint(0.1, 0, 0, 64, 48, BLACK),
    say(0.2, reports.Ready(1)),
    points(1.0, 10),
    coins(2.0, 1),
    paint(3.0, 4, 20, 10, 10, RED),
    say(3.05, reports.Done(1, reason="lost")),
    Said(3.05, {"event": "end", "episode": 1, "terminated": True, "truncated": False, "reason": "lost"}),
    begin(3.05, 2),
    paint(3.6, 0, 0, 64, 48, BLACK),
    say(3.7, reports.Ready(2)),
    points(4.0, 3),
    Said(5.0, {"event": "end", "episode": 2, "terminated": False, "truncated": True, "reason": "time limit"}),
    begin(5.0, 3),
    points(5.2, 20),
    Said(7.0, {"event": "pause"}),
]
LABELS = Labels(
    recording="a.plrec",
    episodes=[
        LabelledEpisode(begin=0.2, end=3.0, done="terminated", reason="lost"),
        LabelledEpisode(begin=3.7, end=5.0),
    ],
    sources={"points": [(0.2, 0.0), (1.0, 0.2), (3.6, 0.0), (4.0, 0.06)]},
    rewards=[(1.0, 10.0), (2.0, 7.0), (4.0, 3.0)],
)
BEGUN = LabelledEpisode(begin=0.2)
QUIET = Console(quiet=True)


def make(
    directory: Path, records: list[Record], labels: Labels = LABELS, header: Header = HEADER, name: str = "a"
) -> Path:
    """A runtime with one recording; returns the recording's path."""
    (directory / "runtime.toml").write_text(MANIFEST)
    path = recorded(directory / "recordings" / f"{name}.plrec", records, header)
    write_table(labels_path(path), labels)
    return path


def report(path: Path) -> dict[str, Any]:
    return json.loads(path.with_name("a.report.json").read_text())


def told(directory: Path, paths: list[Path] | None = None, *, write: bool = True) -> tuple[int, str]:
    """The status of a score, and all that it says."""
    console = Console(record=True, width=400, file=io.StringIO())
    status = score(directory, paths or [], console=console, write=write)
    return status, console.export_text()


def found(path: Path) -> list[tuple[str, float, str, str]]:
    return [(one["kind"], one["at"], one["expected"], one["got"]) for one in report(path)["disagreements"]]


def test_a_recording_that_is_scraped_as_it_was_is_perfect(tmp_path: Path) -> None:
    path = make(tmp_path, RECORDS)
    _, text = told(tmp_path, write=False)
    assert all(said in text for said in ("3: 100/100", "1: 100/100", "a.plrec"))
    assert not path.with_name("a.report.json").exists()
    assert score(tmp_path, console=QUIET) == 0
    document = report(path)
    assert document["perfect"] is True
    assert document["disagreements"] == []
    assert document["reward"]["precision"] == document["reward"]["recall"] == 1.0
    assert document["done"] == {
        "true": 1, "false": 0, "missed": 0, "precision": 1.0, "recall": 1.0,
        "delay_frames": document["done"]["delay_frames"],
    }  # fmt: skip
    assert document["episodes"] == [
        {"begin": 0.2, "end": 3.0, "true": 17.0, "scraped": 17.0},
        {"begin": 3.7, "end": 5.0, "true": 3.0, "scraped": 3.0},
    ]
    assert document["readings"]["points"]["wrong"] == 0
    assert 150 < document["readings"]["points"]["cycles"] < 300
    # Two cycles have to agree, half a frame apart.
    assert 0 < document["reward"]["delay_frames"]["largest"] <= 2
    assert not (path.parent / "a.disagreements").exists()


def test_rewards_that_were_missed_or_made_up_are_told_with_a_picture(tmp_path: Path) -> None:
    labels = LABELS.model_copy(update={"rewards": [(1.0, 11.0), (2.0, 7.0), (2.9, 5.0), (4.0, 3.0)]})
    path = make(tmp_path, RECORDS, labels)
    assert score(tmp_path, console=QUIET) == 1
    kinds = found(path)
    assert [(kind, expected, got) for kind, _, expected, got in kinds] == [
        ("false reward", "nothing", "10"),
        ("missed reward", "11", "nothing"),
        ("missed reward", "5", "nothing"),
    ]
    document = report(path)
    assert document["reward"]["precision"] == pytest.approx(2 / 3, abs=1e-5)
    assert document["reward"]["recall"] == 0.5
    assert document["episodes"][0] == {"begin": 0.2, "end": 3.0, "true": 23.0, "scraped": 17.0}
    # Of 5 at 2.9 s no source says anything.
    assert [one["sources"] for one in document["disagreements"]] == [["points"], ["points"], []]
    pictures = sorted(file.name for file in (path.parent / "a.disagreements").iterdir())
    assert [name.partition(" at ")[0] for name in pictures] == [
        "001 false reward",
        "002 missed reward",
        "003 missed reward",
    ]
    assert pictures[2] == "003 missed reward at 2.90 s.png"


def test_a_picture_shows_the_screen_of_the_moment_with_the_region_outlined(tmp_path: Path) -> None:
    from PIL import Image

    labels = LABELS.model_copy(update={"sources": {"points": [(0.2, 0.0), (2.0, 0.5), (3.6, 0.0), (4.0, 0.06)]}})
    path = make(tmp_path, RECORDS, labels)
    assert score(tmp_path, console=QUIET) == 1
    # It stays wrong, and is told once.
    assert [(kind, expected, got) for kind, _, expected, got in found(path)] == [("wrong reading", "0", "0.2")]
    (shown,) = (path.parent / "a.disagreements").iterdir()
    with Image.open(shown) as picture:
        assert picture.size == (64, 48)
        assert picture.getpixel((5, 5)) == (0, 255, 0)
        assert picture.getpixel((3, 3)) == (255, 32, 32)


def test_a_true_end_that_was_not_seen_and_a_seen_one_that_is_not_true(tmp_path: Path) -> None:
    episodes = [
        LabelledEpisode(begin=0.2, end=3.0, done="truncated"),
        LabelledEpisode(begin=3.7, end=5.0, done="terminated"),
    ]
    path = make(tmp_path, RECORDS, LABELS.model_copy(update={"episodes": episodes}))
    assert score(tmp_path, console=QUIET) == 1
    assert [(kind, expected, got) for kind, _, expected, got in found(path)] == [
        ("false end", "nothing", "terminated: lost"),
        ("missed end", "truncated", "nothing"),
        ("missed end", "terminated", "nothing"),
    ]
    # No rule truncates an episode.
    assert [one["sources"] for one in report(path)["disagreements"]] == [["over"], [], ["over"]]


def test_episodes_that_were_not_played_and_not_labelled_disagree(tmp_path: Path) -> None:
    labels = LABELS.model_copy(
        update={"episodes": [LABELS.episodes[0], LabelledEpisode(begin=6.0, end=6.5)], "rewards": LABELS.rewards[:2]}
    )
    path = make(tmp_path, RECORDS, labels)
    assert score(tmp_path, console=QUIET) == 1
    kinds = [kind for kind, _, _, _ in found(path)]
    assert kinds == ["false episode", "false reward", "missed episode"]


def test_a_program_that_ended_truncates_its_episode_with_what_it_had_earned(tmp_path: Path) -> None:
    records = [
        *RECORDS[:5],
        say(1.5, reports.Done(1, terminated=False, truncated=True, reason="the program ended: exit status 3")),
        begin(1.5, 2),
        Said(4.0, {"event": "pause"}),
    ]
    labels = Labels(
        recording="a.plrec",
        episodes=[LabelledEpisode(begin=0.2, end=1.5, done="truncated")],
        rewards=[(1.0, 10.0)],
    )
    make(tmp_path, records, labels)
    assert score(tmp_path, console=QUIET) == 0


def test_an_end_that_is_seen_after_the_next_episode_was_asked_for_still_counts(tmp_path: Path) -> None:
    # The VNC server shows what the scraper saw a little later.
    records = [
        record if not isinstance(record, Update) else replace(record, at=record.at + 0.03) for record in RECORDS[:6]
    ]
    records += [
        say(3.0, reports.Done(1, reason="lost")),
        begin(3.0, 2),
        paint(3.015, 4, 20, 10, 10, RED),
        Said(5.0, {"event": "pause"}),
    ]
    labels = LABELS.model_copy(update={"episodes": LABELS.episodes[:1], "rewards": LABELS.rewards[:2], "sources": {}})
    make(tmp_path, records, labels)
    assert score(tmp_path, console=QUIET) == 0


@pytest.mark.parametrize(
    ("header", "records", "complaint"),
    [
        (structs.replace(HEADER, runtime="other"), RECORDS, "is a recording of other, and this is toy"),
        (HEADER, RECORDS[:1] + RECORDS[2:5], "coins: neither on the screen nor read when this was recorded"),
    ],
)
def test_a_recording_that_does_not_fit_is_refused(
    tmp_path: Path, header: Header, records: list[Record], complaint: str
) -> None:
    make(tmp_path, records, header=header)
    with pytest.raises(AuthoringError, match=complaint):
        score(tmp_path, console=QUIET)


def test_a_recording_without_labels_is_listed_and_the_others_are_scored(tmp_path: Path) -> None:
    path = make(tmp_path, RECORDS)
    other = path.with_name("b.plrec")
    other.write_bytes(path.read_bytes())
    status, text = told(tmp_path)
    assert status == 1
    assert f"{other}: not compared: it has no labels; make them with: pluriverse-server label {other}" in text
    assert report(path)["perfect"] is True


def test_nothing_to_compare_is_no_hundred_percent(tmp_path: Path) -> None:
    make(tmp_path, [*RECORDS[:4], Said(2.0, {"event": "pause"})], Labels(recording="a.plrec", episodes=[BEGUN]))
    status, text = told(tmp_path)
    assert status == 1
    assert "a.plrec: nothing compared: neither it nor its labels have a reward or an end" in text
    assert "toy.Bar-v0: nothing compared of its rewards: no recording has any" in text
    assert "toy.Bar-v0: nothing compared of its ends of episodes: no recording has any" in text
    assert "100" not in text


def test_labels_that_nobody_entered_and_ends_that_never_occurred_are_told(tmp_path: Path) -> None:
    times = {name: [at for at, _ in steps] for name, steps in LABELS.sources.items()}
    accepted = {**times, "rewards": [1.0, 2.0, 4.0], "episodes": [0.2, 3.0, 3.7, 5.0]}
    path = make(tmp_path, RECORDS, LABELS.model_copy(update={"proposed": accepted}))
    manifest = tmp_path / "runtime.toml"
    won = MANIFEST.replace('lost = "over > 0.5" }', 'lost = "over > 0.5", won = "points == 1" }')
    manifest.write_text(won.replace("[[envs]]", '[episode.truncated]\nstuck = "points == 2"\n[[envs]]'))
    status, text = told(tmp_path)
    assert status == 0
    assert (
        f"{path}: 0 labels entered by a person, 11 accepted as read; not compared with the picture by a person" in text
    )
    assert "toy.Bar-v0: done won never occurred; record an episode that ends so" in text
    assert "toy.Bar-v0: truncated stuck never occurred" in text
    assert "done lost never" not in text


def test_an_end_that_is_seen_too_late_is_told(tmp_path: Path) -> None:
    episodes = [LabelledEpisode(begin=0.2, end=2.6, done="terminated", reason="lost"), LABELS.episodes[1]]
    path = make(tmp_path, RECORDS, LABELS.model_copy(update={"episodes": episodes}))
    assert score(tmp_path, console=QUIET) == 1
    assert [(kind, expected) for kind, _, expected, _ in found(path)] == [("late end", "at most 0.2 s")]
    with (tmp_path / "runtime.toml").open("a") as file:
        file.write('[score]\nmax_delay = "450 ms"\n')
    assert score(tmp_path, console=QUIET) == 0


def test_reward_by_the_second_is_compared_by_its_sum_with_what_its_source_was_labelled(tmp_path: Path) -> None:
    path = make(tmp_path, RECORDS)
    with (tmp_path / "runtime.toml").open("a") as file:
        file.write('[[rewards]]\nsource = "points"\ngive = "second"\nscale = 2\n')
    assert score(tmp_path, console=QUIET) == 0
    # From 1.0 to 3.0, and from 4.0 to 5.0.
    timed = report(path)["by_second"]
    assert [(one["true"], one["scraped"]) for one in timed] == [
        (4.0, pytest.approx(4, abs=0.2)),
        (2.0, pytest.approx(2, abs=0.2)),
    ]
    later = {"points": [(0.2, 0.0), (1.4, 0.2), (3.6, 0.0), (4.0, 0.06)]}
    write_table(labels_path(path), LABELS.model_copy(update={"sources": later}))
    assert score(tmp_path, console=QUIET) == 0, "which may be read a little later"
    write_table(labels_path(path), LABELS.model_copy(update={"sources": {"points": [(0.2, 0.0), (4.0, 0.06)]}}))
    assert score(tmp_path, console=QUIET) == 1
    assert "wrong reward by the second" in [kind for kind, _, _, _ in found(path)]
    write_table(labels_path(path), LABELS.model_copy(update={"sources": {}}))
    status, text = told(tmp_path)
    assert status == 1
    assert "nothing compared of its reward by the second of points, whose values have to be" in text


def test_what_a_page_reported_is_compared_with_the_labels(tmp_path: Path) -> None:
    reported = [
        RECORDS[0],
        say(0.2, reports.Ready(1)),
        say(1.02, reports.Reward(1, 10.0, 1001.0)),
        say(2.02, reports.Reward(1, 7.0, 1002.0)),
        say(3.05, reports.Done(1, reason="lost", at=1003.0)),
    ]
    page = '[reset]\nby = "page"\n[page]\nurl = "https://example.org/"\ndone = "over"\n'
    manifest = MANIFEST[: MANIFEST.index("[program]")] + page
    manifest += '[[rewards]]\nsource = "page"\nvalue = "score"\n' + MANIFEST[MANIFEST.index("[[envs]]") :]
    labels = LABELS.model_copy(update={"episodes": LABELS.episodes[:1], "rewards": LABELS.rewards[:2], "sources": {}})
    path = make(tmp_path, reported, labels)
    (tmp_path / "runtime.toml").write_text(manifest)
    assert score(tmp_path, console=QUIET) == 0
    assert report(path)["reward"]["true"] == 2
    write_table(labels_path(path), labels.model_copy(update={"rewards": [(1.0, 11.0), (2.0, 7.0)]}))
    assert score(tmp_path, console=QUIET) == 1


def test_a_source_that_reads_nothing_where_something_is_labelled_disagrees(tmp_path: Path) -> None:
    path = make(tmp_path, RECORDS)
    text = (tmp_path / "runtime.toml").read_text().replace('colour = "#00ff00"', 'colour = "#00ff00"\nmin = 0.5')
    (tmp_path / "runtime.toml").write_text(text)
    assert score(tmp_path, console=QUIET) == 1
    assert [kind for kind, _, _, _ in found(path)].count("missed reading") == 2
