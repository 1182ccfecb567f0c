"""What the page that labels a recording is told of the runtime around it."""

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from pluriverse_authoring.label import Known, RewardSource, what_is_read
from pluriverse_authoring.labels import game_of
from pluriverse_protocol.recordings import Header
from pluriverse_server.manifest.game import GameTables
from pluriverse_server.manifest.runtime import ManifestError
from support.scraped import ENV, HEIGHT, WIDTH, write_runtime

HEADER = Header("tiny", "1.0.0", ENV, WIDTH, HEIGHT, 60.0, 1000.0)
BOX = [0, 0, 8, 8]


def game(sources: dict[str, Any], rewards: list[dict[str, Any]]) -> GameTables:
    return GameTables.model_validate({"reset": {"by": "restart"}, "sources": sources, "rewards": rewards})


def test_each_source_is_told_with_its_place_and_the_kind_of_its_values() -> None:
    screen = {"from": "screen", "region": BOX}
    known, _ = what_is_read(
        game(
            {
                "score": {**screen, "read": "number"},
                "title": {**screen, "read": "text"},
                "over": {**screen, "read": "template", "image": "over.png"},
                "health": {**screen, "read": "bar", "colour": "#ff0000"},
                "coins": {"from": "memory", "type": "u8", "address": 1},
                "said": {"from": "log", "pattern": "said (?P<value>.*)"},
            },
            [{"source": "score"}],
        )
    )
    assert known == {
        "score": Known(BOX, "number"),
        "title": Known(BOX, "string"),
        "over": Known(BOX, "boolean"),
        "health": Known(BOX, "number"),
        "coins": Known(None, "number"),
        "said": Known(None, None),
    }


SOURCES = {name: {"from": "screen", "read": "number", "region": BOX} for name in ("ours", "theirs")}


@pytest.mark.parametrize(
    ("rewards", "earned"),
    [
        (
            [{"source": "ours", "begins": 0.0}, {"source": "theirs", "scale": -2.0}],
            [RewardSource("ours", 1, 0), RewardSource("theirs", -2)],
        ),
        # Reward for time isn't scored, and so isn't labelled.
        ([{"source": "ours"}, {"source": "theirs", "give": "second"}], [RewardSource("ours", 1)]),
        ([{"source": "ours", "give": "second"}], []),
        ([{"source": "ours"}, {"source": "theirs", "give": "event"}], None),
        ([{"source": "ours", "when": "theirs > 3"}], None),
        ([], None),
    ],
)
def test_rewards_are_worked_out_where_they_are_changes_alone(
    rewards: list[dict[str, Any]], earned: list[RewardSource] | None
) -> None:
    assert what_is_read(game(SOURCES, rewards))[1] == earned


def test_what_a_program_reports_is_not_worked_out() -> None:
    assert what_is_read(GameTables.model_validate({"rewards": [{"source": "reports"}]})) == ({}, None)


def test_why_a_runtime_is_of_no_use_is_told(tmp_path: Path) -> None:
    recording = tmp_path / "recordings" / "1.plrec"
    with pytest.raises(ManifestError, match=r"runtime\.toml: no such file"):
        game_of(recording, HEADER)
    with pytest.raises(ManifestError, match="no such file"):
        game_of(Path("/1.plrec"), HEADER)
    write_runtime(tmp_path)
    assert set(game_of(recording, HEADER).sources) == {"playing", "over", "score"}
    with pytest.raises(ManifestError, match=r"1\.plrec is a recording of other, and .* is tiny"):
        game_of(recording, replace(HEADER, runtime="other"))
    write_runtime(tmp_path, runtime={"fps": "fast"})
    with pytest.raises(ManifestError, match=r"runtime\.fps"):
        game_of(recording, HEADER)
