from typing import Any

import pytest
from pluriverse_server.manifest.game import (
    EpisodeTable,
    GameTables,
    ResetTable,
    RewardTable,
    Step,
)
from pydantic import BaseModel, ValidationError

SOURCES = {
    "score": {"from": "screen", "region": [0, 0, 9, 9], "read": "number"},
    "lives": {"from": "log", "pattern": r"lives (?P<value>\d)"},
}
SCRAPED: dict[str, Any] = {
    "program": {"command": ["game", "{home}"]},
    "reset": {"by": "keys", "start": [{"until": "score == 0"}], "steps": [{"keys": ["F2"], "until": "lives == 3"}]},
    "sources": SOURCES,
    "rewards": [{"source": "score", "when": "lives > 0"}],
    "episode": {"ready": "score == 0", "done": "lives == 0", "text": "lives", "observation": ["score", "lives"]},
}


def refusal(model: type[BaseModel], table: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as refused:
        model.model_validate(table)
    (problem,) = refused.value.errors()
    key = ".".join(str(part) for part in problem["loc"])
    return f"{key}: {problem['msg'].removeprefix('Value error, ')}"


def test_least_game_that_is_scraped() -> None:
    game = GameTables.model_validate({"program": {"command": ["game"]}, "reset": {"by": "restart"}, "sources": SOURCES})
    assert game.scraped
    assert (game.episode, game.rewards, game.reset.steps) == (EpisodeTable(), [], [])


def test_counter_that_rolls_for_long_may_be_scored_with_a_longer_delay() -> None:
    score = {**SOURCES["score"], "settles": "0.2 s"}
    table = {"sources": {"score": score}, "reset": {"by": "restart"}, "score": {"max_delay": "1 s"}}
    assert GameTables.model_validate(table).score.max_delay_s == 1
    assert refusal(GameTables, {**table, "score": {"max_delay": "11 s"}}).startswith("score.max_delay: expected more")


def test_whole_game_may_be_validated_again() -> None:
    game = GameTables.model_validate(SCRAPED)
    assert GameTables.model_validate(game.model_dump(by_alias=True)) == game
    assert GameTables(program=game.program, reset=game.reset, sources=game.sources) is not None


def test_spares_are_of_programs_that_are_restarted() -> None:
    assert ResetTable.model_validate({"by": "restart", "spares": 2}).spares == 2
    assert refusal(ResetTable, {"by": "keys", "spares": 1}) == ': expected by = "restart" with spares'


def test_condition_without_a_reason_stands_alone() -> None:
    episode = EpisodeTable.model_validate({"done": "lives == 0", "truncated": {"time up": "clock == 0"}})
    assert episode.done == {"": "lives == 0"}
    assert episode.truncated == {"time up": "clock == 0"}


@pytest.mark.parametrize(
    ("table", "key"),
    [
        ({"rewards": [{"source": "points"}]}, "rewards"),
        ({"rewards": [{"source": "score", "when": "points > 0"}]}, "rewards.when"),
        ({"episode": {"ready": "points == 0"}}, "episode.ready"),
        ({"episode": {"done": "lives == 0 or points == 0"}}, "episode.done"),
        ({"episode": {"truncated": {"late": "points == 0"}}}, "episode.truncated"),
        ({"episode": {"text": "points"}}, "episode.text"),
        ({"episode": {"observation": ["score", "points"]}}, "episode.observation"),
        ({"reset": {"by": "keys", "start": [{"until": "points"}]}}, "reset"),
        ({"reset": {"by": "keys", "steps": [{"until": "points"}]}}, "reset"),
    ],
)
def test_source_that_is_not_there_is_told_with_those_that_are(table: dict[str, Any], key: str) -> None:
    found = refusal(GameTables, {**SCRAPED, **table})
    assert found == f": {key} names the source 'points', and there is none; expected one of: score, lives"


@pytest.mark.parametrize("name", ["Score", "1up", "", "not", "page", "reports", "x" * 65])
def test_name_that_a_condition_or_a_reward_could_not_say_is_refused(name: str) -> None:
    with pytest.raises(ValidationError):
        GameTables.model_validate({"reset": {"by": "keys"}, "sources": {name: SOURCES["score"]}})


MISTAKES: dict[type[BaseModel], list[tuple[dict[str, Any], str]]] = {
    Step: [
        ({}, ": expected exactly one of keys, type, click and restore; or only until"),
        ({"keys": ["NoSuchKey"]}, "keys.0: "),
        ({"click": [1]}, "click: expected [x, y] in pixels"),
        ({"to": "a", "until": "x"}, ": expected restore and to together"),
        ({"keys": ["a"], "every_s": 1}, ": expected until with every_s"),
        ({"until": "f()"}, "until: 'f()' is not allowed in a condition"),
    ],
    RewardTable: [
        ({"source": "score", "when": "lives ="}, "when: expected a condition such as"),
        ({"source": "score", "value": "game.score"}, ": expected value, a JavaScript expression, with"),
        ({"source": "page"}, ": expected value, a JavaScript expression, with"),
        ({"source": "page", "value": "x", "give": "second"}, ': expected give = "change" or "end", no when and no'),
        ({"source": "reports", "when": "x"}, ': expected give = "change" or "end", no when and no scale'),
    ],
    EpisodeTable: [
        ({"done": "lives ="}, "done: expected a condition such as"),
        ({"text": "Score"}, "text: expected a name of lower-case letters"),
        ({"picture": [0, 0, 0, 9]}, "picture: expected [x, y, width, height] in pixels"),
    ],
    GameTables: [
        ({"reset": {"by": "keys"}}, ': expected [sources] with reset.by = "keys"'),
        ({"reset": {"steps": [{"keys": ["a"]}]}}, ': expected [sources] with reset.by = "keys"'),
        ({"episode": {"ready_timeout_s": 5}}, ": expected [sources] with [episode]"),
        (
            {"program": {"command": ["x"], "home": "home"}, "rewards": [{"source": "reports"}]},
            ": expected [sources] with these of [program]: ",
        ),
        (
            {"program": {"command": ["x"]}, "reset": {"by": "report"}},
            ': expected reset.by = "restart" or "keys" with no [[rewards]]',
        ),
        (
            {
                "sources": SOURCES,
                "reset": {"by": "restart", "spares": 1},
                "program": {"command": ["x", "--seed={seed}"]},
            },
            ": expected no {seed} in program.command with reset.spares",
        ),
        (
            {
                "sources": SOURCES,
                "reset": {"by": "restart"},
                "program": {"command": ["x", "--seed={seed}"], "same_start": True},
            },
            ": expected no {seed} in program.command with program.same_start",
        ),
        (
            {"sources": SOURCES, "reset": {"by": "restart"}, "score": {"max_delay": "1 s"}},
            ": expected score.max_delay of at most 0.5 s",
        ),
        ({"sources": SOURCES}, ': expected reset.by = "restart" or "keys" with [sources]'),
        ({"sources": SOURCES, "reset": {"by": "page"}}, ': expected no [sources] with reset.by = "page": what a page'),
    ],
}


@pytest.mark.parametrize(
    ("model", "table", "complaint"), [(model, *case) for model, cases in MISTAKES.items() for case in cases]
)
def test_mistake_in_a_table_is_told(model: type[BaseModel], table: dict[str, Any], complaint: str) -> None:
    assert refusal(model, table).startswith(complaint)
