import os
import re
from pathlib import Path

import pytest
from pluriverse_server.episode import Environment
from pluriverse_server.manifest.runtime import (
    FILE_NAME,
    MAX_MANIFEST_BYTES,
    EnvTable,
    ManifestError,
    fill_command,
    load,
)

VALID = """
[runtime]
id = "toy"
version = "1.2.3"
title = "A toy"
default_env = "toy.First-v0"
[program]
command = ["python", "game.py", "{env}", "--seed={seed}", "--fps={fps}", "{env.level}"]
[[rewards]]
source = "reports"
[[envs]]
id = "toy.First-v0"
level = 3
"""


def write(directory: Path, text: str) -> Path:
    (directory / FILE_NAME).write_text(text, encoding="utf-8")
    return directory


def complaints(directory: Path, text: str) -> list[str]:
    """What is said of a runtime.toml, a line each, without the file's name."""
    write(directory, text)
    with pytest.raises(ManifestError) as refused:
        load(directory)
    lines = str(refused.value).splitlines()
    prefix = f"{directory / FILE_NAME}: "
    assert all(line.startswith(prefix) for line in lines), lines
    return [line.removeprefix(prefix) for line in lines]


def changed(before: str, after: str) -> str:
    assert VALID.count(before) == 1
    return VALID.replace(before, after)


def test_least_manifest_has_the_defaults_that_are_documented(tmp_path: Path) -> None:
    manifest = load(write(tmp_path, VALID))
    assert (manifest.runtime.screen.width, manifest.runtime.screen.height) == (1024, 768)
    assert manifest.runtime.fps == 60
    assert manifest.runtime.metadata is None
    assert manifest.program is not None
    assert manifest.program.ready.timeout_s == 10
    assert manifest.program.frozen_after_s == 4
    assert manifest.program.clock == ["realtime"]
    assert manifest.reset.by == "report"
    assert manifest.time_limit is None
    assert manifest.envs[0].model_extra == {"level": 3}


def test_environment_is_filled_in_with_the_manifests_defaults(tmp_path: Path) -> None:
    manifest = load(write(tmp_path, VALID + "\n[time_limit]\nseconds = 90"))
    plain, own = EnvTable(id="a"), EnvTable(id="b", fps=20, sync=True, time_limit_s=5)
    assert manifest.environment(plain) == Environment("a", 60.0, sync=False, time_limit_s=90.0)
    assert manifest.environment(own) == Environment("b", 20.0, sync=True, time_limit_s=5.0)


def test_the_remote_ends_an_episode_that_should_end_itself_after_its_grace(tmp_path: Path) -> None:
    manifest = load(write(tmp_path, VALID))
    entry = EnvTable(id="a", time_limit_s=10, time_limit_grace_s=3)
    assert (manifest.time_limit_of(entry), manifest.environment(entry).time_limit_s) == (10, 13)


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        ('id = "toy"\n', 'id = "Toy!"\n', "runtime.id: expected lower-case letters, digits and dashes, got 'Toy!'"),
        ('id = "toy"\n', "", "runtime.id: missing; expected a value"),
        ('"1.2.3"', '"1.2"', "runtime.version: expected three numbers with dots between them, such as 0.1.0"),
        ('title = "A toy"', 'tilte = "A toy"', "runtime.title: missing; expected a value"),
        ("[program]", "fps = 0\n[program]", "runtime.fps: input should be greater than or equal to 0.01, got 0"),
        ("[program]", 'lang = "C"\n[program]', "runtime.lang: expected a UTF-8 locale, such as de_DE.UTF-8, got 'C'"),
        ("[program]", 'tz = "Berlin"\n[program]', "runtime.tz: expected a time zone that this machine knows"),
        (
            "[program]",
            "metadata = {x = 1019, y = 0}\n[program]",
            "runtime: the metadata block, 6x2 at (1019, 0), isn't on the screen of 1024x768",
        ),
        ("[program]", '[program]\nclock = ["fast"]', "program.clock[0]: input should be 'realtime' or 'lockstep'"),
        *(
            (
                "[program]",
                f"[program]\nclock = {clock}",
                "program.clock: expected each once, and realtime",
            )
            for clock in ([], ["lockstep"], ["realtime", "realtime"])
        ),
        ("[program]", '[program]\nready = {report = "go"}', "program.ready.report: input should be 'ready', got 'go'"),
        (
            'source = "reports"',
            'source = "screen"',
            'the file: expected rewards of source = "reports" with reset.by = "report"',
        ),
        ("level = 3", "sync = 1", "envs[0].sync: input should be a valid boolean, got 1"),
        ("level = 3", "[time_limit]\nseconds = inf", "time_limit.seconds: input should be a finite number, got inf"),
        ("level = 3", '[[envs]]\nid = ""', "envs[1].id: string should have at least 1 character, got ''"),
        (
            '[[envs]]\nid = "toy.First-v0"\nlevel = 3',
            "",
            "the file: expected environments as [[envs]], from [catalogue], games",
        ),
        ("level = 3", "[catalogue]\ncommand = []", "catalogue.command: list should have at least 1 item"),
    ],
)
def test_each_mistake_names_its_key_and_what_was_expected(
    tmp_path: Path, before: str, after: str, complaint: str
) -> None:
    found = complaints(tmp_path, changed(before, after))
    assert any(line.startswith(complaint) for line in found), found
    assert all(len(line) < 300 for line in found)


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    text = VALID.replace('id = "toy"', 'id = "T"').replace('"1.2.3"', '"1"').replace("[[rewards]]", "[[reward]]")
    keys = [line.split(":")[0] for line in complaints(tmp_path, text)]
    assert keys == ["runtime.id", "runtime.version", "reward"]


@pytest.mark.parametrize(
    "text",
    ["[runtime", "a = ", "\x00", "a = 1\na = 2", "a = " + "[" * 50_000, "a = " + "1" * 5_000, "a = 2001-13-41"],
)
def test_what_is_not_toml_is_told_to_be_not(tmp_path: Path, text: str) -> None:
    (line,) = complaints(tmp_path, text)
    assert line.startswith("not TOML: ")


def test_missing_file_is_told_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"runtime\.toml: no such file; expected a runtime's folder"):
        load(tmp_path)
    with pytest.raises(ManifestError, match="no such file"):
        load(tmp_path / "nowhere")


def test_file_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / FILE_NAME).open("w") as file:
        os.truncate(file.fileno(), MAX_MANIFEST_BYTES + 1)
    with pytest.raises(ManifestError, match=f"over {MAX_MANIFEST_BYTES} bytes"):
        load(tmp_path)


# ── the command's placeholders ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("word", ["{level}", "{}", "{env.a.b}", "{env!r}"])
def test_unknown_placeholder_is_named_with_those_that_are_known(tmp_path: Path, word: str) -> None:
    (line,) = complaints(tmp_path, changed('"{env}"', f'"{word}"'))
    assert line.startswith(
        f"program.command: unknown placeholder {word}; "
        "known: {env}, {env.<key>}, {options.<name>}, {task.<name>}, {seed}, {fps}, {home}"
    )


def test_command_is_filled_with_the_environments_keys_and_doubled_braces_are_braces() -> None:
    entry = EnvTable.model_validate({"id": "toy.A-v0", "game": "pong", "level": 3, "title": "A"})
    command = ["play", "{env}", "{env.id}", "{env.game}-{env.level}", "{seed}{fps}", "{{env}}", "plain", ""]
    assert fill_command(command, entry, seed=7, fps=50.0) == [
        *["play", "toy.A-v0", "toy.A-v0", "pong-3", "750.0", "{env}", "plain", ""]
    ]


@pytest.mark.parametrize("key", ["level", "fps", "time_limit_s", "__class__"])
def test_key_that_the_environment_lacks_is_named(key: str) -> None:
    with pytest.raises(
        ManifestError, match=f"environment 'toy' lacks the key 'env.{key}' that program.command asks for"
    ):
        fill_command([f"{{env.{key}}}"], EnvTable(id="toy"), seed=7, fps=60.0)


def test_home_is_filled_in_for_programs_that_are_read_and_asked_for_by_no_other() -> None:
    entry = EnvTable(id="toy")
    assert fill_command(["{home}/save"], entry, seed=7, fps=60.0, home="/srv/home") == ["/srv/home/save"]
    with pytest.raises(
        ManifestError, match=r"program.command asks for \{home\}, which only programs with \[sources\] have"
    ):
        fill_command(["{home}"], entry, seed=7, fps=60.0)


# ── programs that are read ──────────────────────────────────────────────────────────────────────────────────────────

GAME = """
[env]
id = "games.{name}-v0"
title = "{name}"
[program]
command = ["{name}"]
[reset]
by = "restart"
[sources.score]
from = "screen"
read = "number"
region = [0, 0, 60, 20]
[[rewards]]
source = "score"
"""
GAMES = """
games = "games"
[runtime]
id = "games"
version = "1.2.3"
title = "Games"
default_env = "games.one-v0"
[time_limit]
seconds = 90
[spaces]
pointer = true
"""


def write_games(directory: Path, **texts: str) -> Path:
    (directory / "games").mkdir()
    for name, text in texts.items():
        (directory / "games" / f"{name}.toml").write_text(text, encoding="utf-8")
    return write(directory, GAMES)


def test_runtime_whose_program_is_read_has_its_tables_in_one_file(tmp_path: Path) -> None:
    text = GAME.replace("[env]", "[[envs]]").replace('title = "{name}"', "").format(name="one")
    envs, rest = text.split("[program]")
    head = GAMES.replace('games = "games"', "")
    manifest = load(write(tmp_path, head + "[program]" + rest + envs))
    assert manifest.plays_scraped
    assert manifest.game("games.one-v0") is manifest
    assert list(manifest.sources) == ["score"]


def test_each_file_of_the_games_folder_is_an_environment(tmp_path: Path) -> None:
    own = GAME.format(name="two") + "[time_limit]\nseconds = 5\n[spaces]\ntext = true\n"
    manifest = load(write_games(tmp_path, one=GAME.format(name="one"), two=own))
    assert [entry.id for entry in manifest.envs] == ["games.one-v0", "games.two-v0"]
    assert manifest.plays_scraped
    assert not manifest.scraped
    for name in ("one", "two"):
        program = manifest.game(f"games.{name}-v0").program
        assert program is not None
        assert program.command == [name]
    assert [manifest.environment(entry).time_limit_s for entry in manifest.envs] == [90, 5]
    pointers = [spaces.pointer for entry in manifest.envs if (spaces := manifest.spaces_of(entry)) is not None]
    assert pointers == [True, False]


def test_mistakes_of_all_games_are_told_each_with_its_file(tmp_path: Path) -> None:
    good = GAME.format(name="one")
    write_games(
        tmp_path,
        one=good.replace("[0, 0, 60, 20]", "[0, 0, 60]"),
        two=good.replace("[[rewards]]\nsource", "[[rewards]]\nsuorce"),
        three=good.replace("[sources.score]", "[sauces.score]"),
        four=good.replace('read = "number"', 'read = "numbre"'),
        five=good.replace('by = "restart"', 'by = "restart"\nsteps = [{until = "lives == 0"}]'),
        six="[env",
    )
    with pytest.raises(ManifestError) as refused:
        load(tmp_path)
    prefix = f"{tmp_path / 'games'}/"
    told = sorted(line.removeprefix(prefix) for line in str(refused.value).splitlines())
    expected = [
        "five.toml: the file: reset names the source 'lives', and there is none; expected one of: score, got",
        'four.toml: sources.score: expected from = "screen" with read = "number", "text"',
        "one.toml: sources.score.region: expected [x, y, width, height] in pixels",
        "six.toml: not TOML: ",
        "three.toml: sauces: unknown key; is it misspelt, or in the wrong table?",
        "two.toml: rewards[0].source: missing; expected a value",
        "two.toml: rewards[0].suorce: unknown key; is it misspelt, or in the wrong table?",
    ]
    assert len(told) == len(expected)
    for line, start in zip(told, expected, strict=True):
        assert line.startswith(start)


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ('[program]\ncommand = ["x"]', "expected program in the games' files alone"),
        ('[page]\nurl = "https://example.org/"\n[episode]', "expected episode, page in the games' files alone"),
        (
            '[[envs]]\nid = "x"',
            "expected environments as [[envs]], from [catalogue], games",
        ),
    ],
)
def test_games_have_their_tables_in_their_own_files(tmp_path: Path, more: str, complaint: str) -> None:
    (line,) = complaints(tmp_path, GAMES + more)
    assert line.startswith(f"the file: {complaint}")


def heard(source: str, more: str = "") -> str:
    """A program that is read and has rewards of its own."""
    text = GAME.format(name="one").replace('[env]\nid = "games.one-v0"\ntitle = "one"', "")
    text = text.replace('source = "score"', f'source = "{source}"\n{more}')
    return GAMES.replace('games = "games"', "") + text + '[[envs]]\nid = "x"'


def test_program_that_is_read_reports_rewards_of_its_own_as_well(tmp_path: Path) -> None:
    (tmp_path / "runtime.toml").write_text(heard("reports"))
    manifest = load(tmp_path)
    assert manifest.plays_scraped
    assert manifest.is_heard


def test_what_is_read_is_no_page(tmp_path: Path) -> None:
    (line,) = complaints(tmp_path, heard("page", 'value = "1"'))
    assert line.startswith("the file: expected rewards of the sources by their names, or of reports; [sources] read no")


TASK = """
from pluriverse_server.kit import Task


class Sort(Task):
    words = "Sort {file}."


class Merge(Task):
    words = "Merge them."
    grade = "change"
    seconds = 7
"""
TASKED = 'tasks = "some.py"\n[program]\ncommand = ["x", "{task.file}"]\n'


def test_each_task_of_a_games_file_is_an_environment(tmp_path: Path) -> None:
    directory = write_games(tmp_path, one=GAME.format(name="one"), two=TASKED)
    (tmp_path / "games" / "some.py").write_text(TASK)
    manifest = load(directory)
    assert [entry.id for entry in manifest.envs] == ["games.one-v0", "games.Sort-v0", "games.Merge-v0"]
    _, sort, merge = manifest.envs
    assert (sort.title, manifest.time_limit_of(sort), manifest.time_limit_of(merge)) == ("Sort {file}.", 120.0, 7.0)
    for entry, give, done in ((sort, "submit", {}), (merge, "change", {"done": "task >= 1"})):
        game, spaces = manifest.game(entry.id), manifest.spaces_of(entry)
        assert [(reward.source, reward.give) for reward in game.rewards] == [("task", give)]
        assert (game.reset.by, game.episode.done) == ("restart", done)
        assert spaces is not None
        assert (spaces.submit, spaces.pointer, spaces.text) == (True, True, True)
        assert game.program is not None
        filled = [fill_command(game.program.command, sort, seed=1, fps=1, task=task) for task in (None, {"file": "a"})]
        assert filled == [["x", ""], ["x", "a"]]


@pytest.mark.parametrize(
    ("game", "complaint"),
    [
        (TASKED + '[env]\nid = "x"', "expected [env] or tasks, one of the two"),
        (TASKED + '[[rewards]]\nsource = "reports"', "expected [program], and [sources]"),
        (TASKED + '[reset]\nby = "restart"\nspares = 1', 'expected reset.by = "restart" with tasks, and program.same'),
        (TASKED.replace("some", "none"), "none.py can't be read"),
    ],
)
def test_tasks_that_cannot_be_are_refused(tmp_path: Path, game: str, complaint: str) -> None:
    directory = write_games(tmp_path, one=game)
    (tmp_path / "games" / "some.py").write_text(TASK)
    with pytest.raises(ManifestError, match=re.escape(complaint)):
        load(directory)


def test_tasks_of_a_page_are_graded_as_they_are_submitted(tmp_path: Path) -> None:
    (tmp_path / "runtime.toml").write_text(
        'tasks = "some.py"\n[runtime]\nid = "p"\nversion = "1.0.0"\ntitle = "P"\ndefault_env = "p.Sort-v0"\n'
        '[reset]\nby = "page"\n[page]\nfiles = "www"\nstart = "/"\n'
    )
    (tmp_path / "some.py").write_text(TASK)
    with pytest.raises(ManifestError, match='Merge: expected grade = "submit"'):
        load(tmp_path)
    (tmp_path / "other.py").write_text(TASK.replace('"change"', '"submit"'))
    (tmp_path / "runtime.toml").write_text((tmp_path / "runtime.toml").read_text().replace("some.py", "other.py"))
    manifest = load(tmp_path)
    assert [entry.id for entry in manifest.envs] == ["p.Sort-v0", "p.Merge-v0"]
    assert manifest.is_rewarded("p.Sort-v0")
    (tmp_path / "more.py").write_text(
        TASK.replace('"change"', '"submit"').replace("Sort", "Split").replace("Merge", "Mix")
    )
    text = (tmp_path / "runtime.toml").read_text()
    (tmp_path / "runtime.toml").write_text(text.replace('"other.py"', '["other.py", "more.py"]'))
    assert [entry.id for entry in load(tmp_path).envs] == ["p.Sort-v0", "p.Merge-v0", "p.Split-v0", "p.Mix-v0"]
