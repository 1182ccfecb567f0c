"""Labels: what is written is read, and what doesn't fit is told with its place."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pluriverse_authoring import AuthoringError
from pluriverse_authoring.labels import LabelledEpisode, Labels, labels_path, read_labels, write_table

TIMES = st.lists(st.floats(0, 86_400), unique=True, max_size=5).map(sorted)
VALUES = st.none() | st.booleans() | st.floats(-1e9, 1e9) | st.text(max_size=20)


@st.composite
def labels(draw: st.DrawFn) -> Labels:
    bounds = draw(TIMES)
    episodes = [
        LabelledEpisode(begin=begin, end=end, done=draw(st.sampled_from([None, "terminated", "truncated"])))
        for begin, end in zip(bounds[::2], bounds[1::2], strict=False)
    ]
    sources = {
        name: [(at, draw(VALUES)) for at in draw(TIMES)] for name in draw(st.sets(st.from_regex(r"\As_[a-z]{1,8}\Z")))
    }
    rewards = [(at, draw(st.floats(-1e9, 1e9))) for at in draw(TIMES)]
    return Labels(recording="a.plrec", episodes=episodes, sources=sources, rewards=rewards)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(labels())
def test_what_is_written_is_read(tmp_path: Path, wanted: Labels) -> None:
    path = tmp_path / "a.labels.json"
    write_table(path, wanted)
    assert read_labels(path) == wanted
    assert [file.name for file in tmp_path.iterdir()] == ["a.labels.json"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "invalid JSON"),
        ("{}", "recording: missing"),
        ('{"recording": "a", "reward": []}', "reward: unknown key"),
        ('{"recording": "a", "rewards": [[2, 1], [1, 1]]}', "rewards: expected the rewards in the order"),
        ('{"recording": "a", "rewards": [[-1, 1]]}', "rewards[0][0]: input should be greater than or equal to 0"),
        ('{"recording": "a", "rewards": [[1, "1"]]}', "rewards[0][1]: input should be a valid number"),
        ('{"recording": "a", "sources": {"x": [[1, 1], [1, 2]]}}', "expected the values of x in the order"),
        ('{"recording": "a", "sources": {"X": []}}', "sources.X"),
        ('{"recording": "a", "episodes": [{"begin": 2, "end": 1}]}', "episodes[0]: expected an end that is no earlier"),
        ('{"recording": "a", "episodes": [{"begin": 2, "done": "terminated"}]}', "episodes[0]: expected an end with"),
        ('{"recording": "a", "episodes": [{"begin": 2}, {"begin": 3}]}', "episodes: expected each episode to end"),
        ('{"recording": "a", "episodes": [{"begin": 2, "end": 3, "done": "won"}]}', "episodes[0].done"),
    ],
)
def test_what_does_not_fit_is_told_with_its_place(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "a.labels.json"
    path.write_text(text)
    with pytest.raises(AuthoringError) as caught:
        read_labels(path)
    assert str(path) in str(caught.value)
    assert complaint in str(caught.value)


def test_labels_that_are_not_there_are_told_with_what_makes_them(tmp_path: Path) -> None:
    with pytest.raises(AuthoringError, match="no such file; make it with: pluriverse-server label"):
        read_labels(tmp_path / "a.labels.json")


def test_labels_are_beside_their_recording() -> None:
    assert labels_path(Path("games/recordings/one.two.plrec")) == Path("games/recordings/one.two.labels.json")


def test_labels_that_were_entered_and_those_that_were_accepted_are_counted() -> None:
    episode = LabelledEpisode(begin=1.0, end=4.0)
    labels = Labels(
        recording="a.plrec",
        episodes=[episode],
        sources={"score": [(1.0, 0.0), (2.0, 5.0)]},
        rewards=[(2.0, 5.0)],
        proposed={"score": [2.0, 3.0], "episodes": [1.0], "rewards": [2.0]},
    )
    assert labels.entered_and_accepted == (2, 3)
