import tomllib
from pathlib import Path

import pytest
from pluriverse_authoring import AuthoringError
from pluriverse_authoring.runtime_file import RuntimeFile, begin
from pluriverse_server.manifest.runtime import FILE_NAME, ManifestError, load

REGION = {"from": "screen", "region": [0, 0, 20, 10]}


@pytest.fixture
def file(tmp_path: Path) -> RuntimeFile:
    return RuntimeFile(begin(["sleep", "600"], tmp_path / "still", (320, 200)))


def add(file: RuntimeFile, name: str, read: str, *, reward: bool = False) -> str:
    file.add_source(name, {**REGION, "read": read}, reward=reward, picture=b"a picture")
    return (file.folder / FILE_NAME).read_text()


def test_a_number_is_written_with_its_reward_and_only_once(file: RuntimeFile) -> None:
    add(file, "score", "number", reward=True)
    text = add(file, "score", "number", reward=True)
    assert text.count("[sources.score]") == text.count("[[rewards]]") == 1
    game = load(file.folder)
    assert [reward.source for reward in game.rewards] == list(game.sources) == ["score"]


def test_what_a_person_wrote_stays(file: RuntimeFile) -> None:
    path = file.folder / FILE_NAME
    menu = '# The menu.\n[sources.menu]\nfrom = "log"   # what it prints\npattern = "menu"\n'
    mine = f'{menu}\n[[rewards]]\nsource = "menu"\n'
    path.write_text(f"{path.read_text()}\n{mine}")
    before = path.read_text()
    text = add(file, "score", "number", reward=True)
    assert all(line in text.splitlines() for line in before.splitlines())
    document = tomllib.loads(text)
    assert list(document["sources"]) == ["menu", "score"]
    assert document["rewards"] == [{"source": "menu"}, {"source": "score"}]


@pytest.mark.parametrize(("name", "read"), [("Score", "number"), ("score", "numbre")])
def test_what_would_be_no_valid_runtime_is_not_written(file: RuntimeFile, name: str, read: str) -> None:
    before = (file.folder / FILE_NAME).read_text()
    with pytest.raises(AuthoringError, match="not written: "):
        add(file, name, read)
    assert (file.folder / FILE_NAME).read_text() == before


def test_a_mistake_that_a_person_makes_is_told(file: RuntimeFile) -> None:
    file.check()
    (file.folder / FILE_NAME).write_text("[runtime")
    with pytest.raises(ManifestError, match="not TOML"):
        file.check()


def test_a_page_is_a_runtime_too(tmp_path: Path) -> None:
    (tmp_path / "game.html").touch()
    page = load(begin([str(tmp_path / "game.html")], tmp_path / "mine", (640, 480))).page
    assert page is not None
    assert (page.files, page.start) == (str(tmp_path), "game.html")
    page = load(begin(["https://example.org/play?a={b}"], tmp_path / "other", (640, 480))).page
    assert page is not None
    assert page.url == "https://example.org/play?a={{b}}"


def test_a_runtime_that_is_there_is_looked_at_and_none_is_overwritten(file: RuntimeFile) -> None:
    assert begin([str(file.folder)], None, (320, 200)) == file.folder
    with pytest.raises(AuthoringError, match="already exists; look at it with: pluriverse-server look"):
        begin(["sleep", "1"], file.folder, (320, 200))
    with pytest.raises(AuthoringError, match="no program 'no-such-program'"):
        begin(["no-such-program"], file.folder.parent / "new", (320, 200))


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("sleep", "sleep"),
        ("sleep -e /usr/games/greed", "greed"),
        ("https://play.example.org/1/", "play-example-org"),
    ],
)
def test_a_runtime_is_called_after_what_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load(begin(command.split(), None, (320, 200))).runtime.id == name
