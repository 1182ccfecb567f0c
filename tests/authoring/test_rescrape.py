"""Episodes are found again by the present rules, in recordings that were made with others, or with none."""

import math
from dataclasses import replace
from typing import Any

import pytest
from pluriverse_authoring.rescrape import Rescraper, Scraped
from pluriverse_authoring.samples import Cycle, Samples
from pluriverse_protocol.recordings import Header
from pluriverse_server.manifest.game import GameTables
from pluriverse_server.sources.reading import Sample

HEADER = Header("toy", "1.0.0", "toy.Toy-v0", 64, 48, 10.0, 1000.0)
GAME = GameTables.model_validate(
    {
        "program": {"command": ["game"]},
        "reset": {"by": "keys"},
        "sources": {
            "score": {"from": "screen", "read": "number", "region": [0, 0, 9, 9]},
            "over": {"from": "screen", "read": "template", "region": [0, 0, 9, 9], "image": "over.png"},
        },
        "rewards": [{"source": "score"}, {"source": "score", "give": "second", "when": "score > 0"}],
        "episode": {"ready": "score == 0 and not over", "done": {"lost": "over"}},
    }
)
REPORTS = GameTables.model_validate({"program": {"command": ["game"]}, "rewards": [{"source": "reports"}]})
EVERYTHING = frozenset(GAME.sources)


def begin(at: float) -> tuple[float, dict[str, Any]]:
    return at, {"event": "begin", "episode": 1, "env": "toy.Toy-v0", "seed": 1, "fps": 10.0}


def ready(at: float) -> tuple[float, dict[str, Any]]:
    return at, {"report": "ready", "episode": 1}


def samples(seen: str, said: list[tuple[float, dict[str, Any]]], live: frozenset[str]) -> Samples:
    """Ten cycles a second, a character each: the score, ``x`` where it is over, a space where nothing is read."""
    cycles: list[Cycle] = []
    for index, character in enumerate(seen):
        at = index / 10
        score = float(character) if character.isdigit() else None
        read = {"score": Sample(score, at), "over": Sample(character == "x", at)}
        cycles.append(Cycle(at, [one for one in said if math.ceil(10 * one[0] - 1e-6) == index], read))
    return Samples(HEADER, cycles, {"toy.Toy-v0": live})


def scraped(recording: Samples, game: GameTables = GAME) -> list[Scraped]:
    rescraper = Rescraper(lambda _: game, recording)
    for _ in rescraper.cycles():
        pass
    return rescraper.episodes


def earned(recording: Samples, game: GameTables = GAME) -> list[tuple[float, float, float | None]]:
    return [(one.begin, sum(mark.what for mark in one.rewards), one.end) for one in scraped(recording, game)]


def test_a_game_that_restarts_in_its_own_process_is_another_episode_of_a_draft() -> None:
    # Nothing was read when this was recorded, so that nobody saw an end.
    seen = "   0000111122223333xxxx00011111222xxxx  0000"
    found = earned(samples(seen, [begin(0.0), ready(0.1)], frozenset()))
    assert [total for _, total, _ in found] == [3.0, 2.0, 0.0]
    assert [round(at, 1) for at, _, _ in found] == [0.4, 2.4, 4.1]
    assert [end is not None for _, _, end in found] == [True, True, False]


def test_what_was_ready_is_ready_though_its_readings_take_a_while() -> None:
    seen = "5555555555555555555555555555"
    assert [round(at, 1) for at, _, _ in earned(samples(seen, [begin(0.0), ready(0.5)], EVERYTHING))] == [1.5]
    assert earned(samples(seen, [begin(0.0), ready(0.5)], frozenset())) == []


def test_an_end_that_only_these_rules_see_is_followed_by_another_episode_unless_it_was_said_after_all() -> None:
    seen = "0000111xxxxx0000000000000000000000000"
    assert len(earned(samples(seen, [begin(0.0), ready(0.1)], EVERYTHING))) == 2
    said = [begin(0.0), ready(0.1), (1.2, {"report": "done", "reason": "lost", "truncated": False}), begin(1.3)]
    assert len(earned(samples(seen, said, EVERYTHING))) == 1


def test_reward_by_the_second_is_counted_apart() -> None:
    seen = "00000111111111111111xxxxxx"
    (one,) = scraped(samples(seen, [begin(0.0), ready(0.1)], EVERYTHING))
    assert [mark.what for mark in one.rewards] == [1.0]
    assert one.by_second == [pytest.approx(1.5, abs=0.11)]


def test_what_a_program_reported_itself_is_taken_as_it_was_said() -> None:
    said = [
        begin(0.0),
        ready(0.5),
        (0.61, {"report": "reward", "episode": 1, "reward": 2.0, "at": 1000.58}),
        (0.9, {"report": "done", "reward": 1.0, "terminated": True, "truncated": False, "reason": "won", "at": None}),
        (0.9, {"event": "end", "episode": 1}),
        begin(0.9),
        ready(1.4),
        (1.6, {"report": "reward", "episode": 2, "reward": -1.0}),
        (1.9, {"event": "end", "episode": 2, "reason": "time limit"}),
    ]
    recording = samples(" " * 25, said, frozenset())
    bare = [replace(cycle, samples={}) for cycle in recording.cycles]
    first, second = scraped(replace(recording, cycles=bare), REPORTS)
    assert [(round(mark.at, 2), mark.what, mark.reported_at) for mark in first.rewards] == [
        (0.58, 2.0, 0.61),
        (0.9, 1.0, 0.9),
    ]
    assert first.done is not None
    assert (first.begin, first.done.what.reason) == (0.5, "won")
    assert [mark.what for mark in second.rewards] == [-1.0]
    assert (second.done, second.end) == (None, 1.9)


BY_SECOND = {"give": "second", "when": "score > 2"}
MIXED = GameTables.model_validate(
    {
        **GAME.model_dump(by_alias=True),
        "reset": {"by": "report"},
        "rewards": [{"source": "score"}, {"source": "score", **BY_SECOND}, {"source": "reports"}],
        "episode": {"done": {"lost": "over"}},
    }
)


def test_what_a_program_says_and_what_is_read_of_it_earn_side_by_side() -> None:
    said = [
        begin(0.0),
        ready(0.5),
        # What was read when it was recorded is read again; these rules give it another amount.
        (0.9, {"report": "reward", "episode": 1, "reward": 7.0, "at": 1000.8}),
        (1.01, {"report": "reward", "episode": 1, "reward": 100.0, "at": 1000.98, "source": "reports"}),
        (1.6, {"report": "reward", "episode": 1, "reward": 50.0, "at": 1001.55, "source": "reports"}),
        (1.6, {"report": "done", "reason": "won", "truncated": False, "at": 1001.55, "source": "reports"}),
        begin(1.7),
        ready(2.0),
        (2.61, {"report": "done", "reason": "lost", "truncated": False, "at": 1002.5}),
    ]
    seen = "00000000" + "2" * 4 + "3" * 6 + "0" * 3 + "1" * 4 + "xxxx"
    first, second = scraped(samples(seen, said, EVERYTHING), MIXED)
    earnings = [(round(mark.at, 2), mark.what) for mark in first.rewards]
    assert earnings == [(0.8, 2.0), (0.98, 100.0), (1.2, 1.0), (1.55, 50.0)]
    assert first.by_second == [pytest.approx(0.2, abs=0.11)]
    assert first.done is not None
    assert (round(first.done.at, 2), first.done.what.reason, first.done.what.source) == (1.55, "won", "reports")
    assert ([mark.what for mark in second.rewards], second.begin) == ([1.0], pytest.approx(2.1, abs=0.11))
    assert second.done is not None
    assert (second.done.what.reason, second.done.what.source) == ("lost", "")


def settling(**episode: Any) -> GameTables:
    """The game, with a score that has to settle."""
    tables = GAME.model_dump(by_alias=True)
    tables["sources"]["score"]["settles"] = "0.5 s"
    tables["rewards"] = [{"source": "score"}]
    return GameTables.model_validate({**tables, "episode": {**tables["episode"], **episode}})


def test_a_value_that_had_settled_when_an_episode_began_is_its_first() -> None:
    # It rolls from the second cycle of the episode, before any value could settle anew.
    seen = "0000000000" + "123" + "4" * 10
    (one,) = scraped(samples(seen, [begin(0.0), ready(0.85)], EVERYTHING), settling())
    assert [(round(mark.at, 1), mark.what) for mark in one.rewards] == [(1.0, 4.0)]
