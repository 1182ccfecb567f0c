"""Wrong rules: which of them a recording would notice, and which not."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from pluriverse_authoring.judge import Trial, judge_samples
from pluriverse_authoring.labels import LabelledEpisode, Labels
from pluriverse_authoring.mutate import Mutations, mutate, shifted
from pluriverse_authoring.samples import Cycle, Samples
from pluriverse_protocol.env_spaces import Choice
from pluriverse_protocol.events import KeyEvent
from pluriverse_protocol.recordings import Header, Input
from pluriverse_server.manifest.game import GameTables, RewardTable
from pluriverse_server.sources.reading import Sample

HEADER = Header("toy", "1.0.0", "toy.Toy-v0", 64, 48, 20.0, 1000.0)
LEFT, RIGHT, RETURN = 0xFF51, 0xFF53, 0xFF0D
GAME = GameTables.model_validate(
    {
        "program": {"command": ["game"]},
        "reset": {"by": "keys", "steps": [{"keys": [RETURN]}]},
        "sources": {
            "score": {"from": "screen", "read": "number", "region": [0, 0, 9, 9], "min": 0, "max_jump": 20},
            "lives": {"from": "screen", "read": "number", "region": [0, 0, 9, 9], "min": 0, "max": 3},
        },
        "rewards": [{"source": "score"}],
        "episode": {"ready": "lives == 3", "done": {"lost": "lives == 0"}, "truncated": {"too much": "score > 900"}},
    }
)
CHOICES = [Choice("wait", ()), Choice("left", (LEFT,)), Choice("right", (RIGHT,))]

# When the lives and the score change. The steps press Return at 0.5, and it takes a second to be ready.
LIVES = [(0.0, None), (1.5, 3.0), (3.0, 2.0), (4.0, 1.0), (5.0, 0.0)]
SCORE = [(0.0, None), (1.0, 0.0), (2.0, 10.0), (4.5, 15.0)]
LABELS = Labels(
    recording="a.plrec",
    episodes=[LabelledEpisode(begin=1.6, end=5.0, done="terminated", reason="lost")],
    rewards=[(2.0, 10.0), (4.5, 5.0)],
)


def at_time(steps: Sequence[tuple[float, float | None]], at: float) -> float | None:
    return [value for since, value in steps if since <= at][-1]


def recorded(game: GameTables = GAME, labels: Labels = LABELS) -> Trial:
    said: list[tuple[float, dict[str, Any]]] = [
        (0.1, {"event": "begin", "episode": 1, "env": "toy.Toy-v0", "seed": 1, "fps": 20.0}),
        (1.6, {"report": "ready", "episode": 1}),
        (5.1, {"report": "done", "reason": "lost", "truncated": False, "reward": 0.0}),
        (5.1, {"event": "end", "episode": 1}),
    ]
    cycles: list[Cycle] = []
    for index in range(140):
        at = index / 20
        read = {"score": Sample(at_time(SCORE, at), at), "lives": Sample(at_time(LIVES, at), at)}
        cycles.append(Cycle(at, [one for one in said if math.ceil(20 * one[0] - 1e-6) == index], read))
    keys = [(0.5, RETURN), (2.5, LEFT)]
    inputs = [Input(at + 0.1 * (not down), KeyEvent(key, down)) for at, key in keys for down in (True, False)]
    samples = Samples(HEADER, cycles, inputs, {"toy.Toy-v0": frozenset(game.sources)})
    trial = Trial(samples, labels, judge_samples(lambda _: game, samples, labels))
    assert trial.result.disagreements == []
    return trial


@pytest.fixture(scope="module")
def found() -> Mutations:
    return mutate(GAME, CHOICES, [recorded()])


def test_what_a_recording_shows_is_noticed_if_it_is_wrong(found: Mutations) -> None:
    wrong = {
        "the sign of the reward of score",
        "the factor of the reward of score",
        "that the reward of score is given",
        "that rewards aren't one too many",
        "that rewards aren't 0.4 s late",
        "the end 'lost'",
        "that the end 'lost' isn't 0.4 s late",
        "whether the end 'lost' is an outcome",
        "that the end 'lost' isn't lives == 1",
        "what ready waits for: lives == 3",
        "that ready isn't lives == 2",
        "max_jump of score, as a tighter one changes nothing",
        "min of lives, as a tighter one changes nothing",
        "the keys of 'left'",
        "reset.steps",
        "the keys of reset.steps[1]",
    }
    assert wrong <= set(found.noticed)


def test_a_reward_by_the_second_is_noticed_if_it_is_wrong() -> None:
    game = GAME.model_copy(update={"rewards": [*GAME.rewards, RewardTable(source="lives", give="second")]})
    labels = LABELS.model_copy(update={"sources": {"lives": [step for step in LIVES if step[1] is not None]}})
    noticed = mutate(game, (), [recorded(game, labels)]).noticed
    name = "the reward of lives by the second"
    assert {f"the sign of {name}", f"the factor of {name}", f"that {name} is given"} <= set(noticed)


def test_what_it_does_not_show_is_told(found: Mutations) -> None:
    wrong = {"the end 'too much'", "that the end 'too much' isn't score > 901", "the keys of 'right'"}
    assert wrong <= set(found.untested)


def test_what_a_program_says_is_changed_apart_from_what_is_read_of_it() -> None:
    tables = {**GAME.model_dump(by_alias=True), "rewards": [{"source": "score"}, {"source": "reports"}]}
    game = GameTables.model_validate({**tables, "reset": {"by": "restart"}})
    found = mutate(game, (), [recorded(game)])
    assert "the sign of the reward of score" in found.noticed
    assert {"the sign of the reward of reports", "that the reward of reports is given"} <= set(found.untested)
    # A program needn't report ends, and none was heard.
    assert not [what for what in (*found.noticed, *found.untested) if "ends that the program reports" in what]


def test_one_recording_that_notices_is_enough() -> None:
    trial = recorded()
    # Whose end comes after this one's last cycle.
    labels = LABELS.model_copy(update={"episodes": [LabelledEpisode(begin=1.6)]})
    cut = Samples(HEADER, trial.samples.cycles[:90], trial.samples.inputs, trial.samples.live)
    cut_labels = labels.model_copy(update={"rewards": LABELS.rewards[:1]})
    short = Trial(cut, cut_labels, judge_samples(lambda _: GAME, cut, cut_labels))
    assert short.result.perfect
    assert "the end 'lost'" in mutate(GAME, (), [short]).untested
    assert "the end 'lost'" in mutate(GAME, (), [short, trial]).noticed


def test_numbers_are_one_more_and_one_less_but_where_that_is_the_same() -> None:
    assert list(shifted("lives == 0 and score >= 5", GAME.sources)) == [
        "lives == 1 and score >= 5",
        "lives == -1 and score >= 5",
        "lives == 0 and score >= 6",
        "lives == 0 and score >= 4",
    ]
    # There is nothing below zero.
    assert list(shifted("score >= 0", GAME.sources)) == ["score >= 1"]
    assert list(shifted("score < lives", GAME.sources)) == ["score <= lives"]
    assert list(shifted("score", GAME.sources)) == []


def test_characters_that_need_shift_are_known_by_the_key_that_was_pressed() -> None:
    trial = recorded()
    samples = replace(trial.samples, inputs=[*trial.samples.inputs, Input(2.6, KeyEvent(ord("="), True))])
    trial = replace(trial, samples=samples)
    found = mutate(GAME, [Choice("plus", (ord("+"),)), Choice("times", (ord("*"),))], [trial])
    assert "the keys of 'plus'" in found.noticed
    assert "the keys of 'times'" in found.untested
