from pathlib import Path

import pytest
from pluriverse_authoring.learn import learn
from pluriverse_authoring.validate import Validation, validate
from support.glyphs import Style, draw

ROOT = Path(__file__).parents[2]

# Numbered, since lines are what this is about.
VALID = """\
[runtime]
id = "toy"
version = "1.2.3"
title = "A toy"
default_env = "toy.First-v0"
screen = { width = 320, height = 200 }
[program]
command = ["python", "game.py", "{env.level}"]
[reset]
by = "restart"
steps = [
  { keys = ["space"], until = "lives == 3" },
  { click = [10, 20] },
]
[sources.score]
from = "log"
pattern = "score (?P<value>[0-9]+)"
max_jump = 100
[sources.lives]
from = "screen"
read = "bar"
region = [0, 0, 60, 10]
colour = "#ff0000"
[[rewards]]
source = "score"
[episode]
done = { "no lives left" = "lives == 0" }
[[envs]]
id = "toy.First-v0"
level = 3
"""


def checked(directory: Path, text: str) -> Validation:
    (directory / "runtime.toml").write_text(text, encoding="utf-8")
    return validate(directory)


def mistakes(directory: Path, text: str) -> list[str]:
    """What is said of a runtime.toml, without the file's name."""
    found = checked(directory, text).mistakes
    return [str(mistake).removeprefix(f"{directory}/runtime.toml:") for mistake in found]


def changed(before: str, after: str) -> str:
    assert VALID.count(before) == 1
    return VALID.replace(before, after)


def test_what_is_right_has_no_mistakes_and_no_warnings(tmp_path: Path) -> None:
    found = checked(tmp_path, VALID)
    assert (found.mistakes, found.warnings) == ([], [])
    assert found.manifest is not None
    assert list(found.catalogue) == ["toy.First-v0"]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ('title = "A toy"', 'titel = "A toy"', '4: runtime.titel: unknown key; did you mean "title"?'),
        ('title = "A toy"\n', "", "1: runtime.title: missing; add a line with title = … here"),
        ('title = "A toy"', 'games = "games"', "4: runtime.games: unknown key here; it belongs to the top of the file"),
        (
            'by = "restart"',
            'by = "restart"\nready = "x"',
            "11: reset.ready: unknown key here; it belongs into [program] or",
        ),
        ('read = "bar"', 'read = "baar"', 'did you mean read = "bar"?'),
        ("click = [10, 20]", "clik = [10, 20]", '13: reset.steps[1].clik: unknown key; did you mean "click"?'),
        ('until = "lives == 3"', 'until = "lives = 3"', "12: reset.steps[0].until: expected a condition such as"),
        ('"lives == 0"', '"live == 0"', "27: episode.done: names the source 'live', and there is none"),
        ("[0-9]+)", "[0-9+)", "17: sources.score.pattern: expected a regular expression"),
        # What no model can check.
        (
            "[0, 0, 60, 10]",
            "[300, 0, 60, 10]",
            "22: sources.lives.region: not on the screen of 320x200 pixels: it reaches to (360, 10)",
        ),
        ("click = [10, 20]", "click = [320, 20]", "13: reset.steps[1].click: not on the screen"),
        ('"python"', '"no-such-game"', "8: program.command: no program on PATH: no-such-game; PATH is "),
        (
            'by = "restart"',
            'by = "keys"\nstart = [{ restore = "a.sav", to = "a.sav" }]',
            "11: reset.start[0].restore: no file",
        ),
        ('"{env.level}"]', '"{env.level}"]\nhome = "fresh"', "9: program.home: no folder"),
        (
            'read = "bar"\nregion = [0, 0, 60, 10]\ncolour = "#ff0000"',
            'read = "number"\nregion = [0, 0, 9, 9]\nglyphs = "digits.png"',
            "23: sources.lives.glyphs: no file",
        ),
        (
            'id = "toy.First-v0"\n',
            'id = "toy.First-v0"\nlevel = 2\n[[envs]]\nid = "toy.First-v0"\n',
            "32: the environment 'toy.First-v0' is listed twice",
        ),
    ],
)
def test_what_is_wrong_has_its_line_and_a_remedy(tmp_path: Path, before: str, after: str, expected: str) -> None:
    (tmp_path / "game.py").touch()
    found = mistakes(tmp_path, changed(before, after))
    assert any(expected in mistake for mistake in found), found


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("max_jump = 100\n", "", "15: warning: sources.score: its changes are rewards, but misreadings are unbounded"),
        (
            'read = "bar"',
            'read = "bar"\nagree = 1',
            "22: warning: sources.lives.agree: a half-drawn frame counts at once",
        ),
        ('[[rewards]]\nsource = "score"\n', "", "warning: rewards: missing: it runs without rewards"),
        ('done = { "no lives left" = "lives == 0" }\n', "", "26: warning: episode.done: missing: episodes never end"),
    ],
)
def test_what_is_unwise_is_a_warning_and_no_mistake(tmp_path: Path, before: str, after: str, expected: str) -> None:
    found = checked(tmp_path, changed(before, after))
    assert found.mistakes == []
    assert [expected in str(warning) for warning in found.warnings] == [True]


@pytest.mark.parametrize(
    ("most", "lacking"), [("", "3, 4, 5, 6, 7, 8, 9"), ("max = 9999", "3, 4, 5, 6, 7, 8, 9"), ("max = 3", "3")]
)
def test_digits_that_no_glyph_shows_are_a_warning_where_numbers_may_have_them(
    tmp_path: Path, most: str, lacking: str
) -> None:
    style = Style("DejaVuSansMono")
    learn([(draw(text, style, seed), text) for seed, text in enumerate(("012", "120", "201"))], "012").glyphs.save(
        tmp_path / "score.png"
    )
    bar = 'read = "bar"\nregion = [0, 0, 60, 10]\ncolour = "#ff0000"\n'
    number = f'read = "number"\nregion = [0, 0, 120, 28]\nglyphs = "score.png"\n{most}\n'
    (tmp_path / "game.py").touch()
    (warning,) = checked(tmp_path, changed(bar, number)).warnings
    assert f"23: warning: sources.lives.glyphs: it has no {lacking}: numbers with these can't be read" in str(warning)


@pytest.mark.parametrize("name", [path.name for path in sorted((ROOT / "runtimes").iterdir())])
def test_shipped_runtimes_have_no_mistakes_but_programs_that_are_not_installed(name: str) -> None:
    found = [str(mistake) for mistake in validate(ROOT / "runtimes" / name).mistakes]
    assert [mistake for mistake in found if "no program" not in mistake] == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[runtime]\ntitle = 'A t\xffy'\n", "2: not TOML: 0xff is not UTF-8 (at line 2)"),
        ("a = 1\nb = 2\na = [\n  3,\n]\n", "3: not TOML: 'a = [' is already defined (at line 3)"),
        ("[a]\n[b]\n[a]\nc = 1\n", "3: not TOML: '[a]' is already defined (at line 3)"),
        ("a = 1\na = 2", "2: not TOML: 'a = 2' is already defined (at line 2)"),
    ],
)
def test_what_is_no_toml_is_named_with_the_line_where_it_begins(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "runtime.toml").write_bytes(text.encode("latin-1"))
    assert [str(found) for found in validate(tmp_path).mistakes] == [f"{tmp_path}/runtime.toml:{problem}"]


def test_id_that_is_listed_twice_is_not_taken_for_one_that_only_begins_so(tmp_path: Path) -> None:
    more = "".join(f'[[envs]]\nid = "{name}"\nlevel = 1\n' for name in ("my env", "my env too"))
    assert mistakes(tmp_path, VALID.replace("toy.First-v0", "my env") + more) == [
        "32: the environment 'my env' is listed twice"
    ]


def test_what_only_holds_or_does_not_needs_no_bounds(tmp_path: Path) -> None:
    (tmp_path / "game.py").touch()
    log = 'from = "log"\npattern = "score (?P<value>[0-9]+)"\nmax_jump = 100\n'
    widget = 'from = "accessibility"\nrole = "text"\npattern = "{}"\n'
    assert checked(tmp_path, changed(log, widget.format("^Ada$"))).warnings == []
    assert len(checked(tmp_path, changed(log, widget.format("(?P<value>.*)"))).warnings) == 1
