import re
from pathlib import Path

import floors
import pytest

DOCUMENT = floors.ROOT / "docs" / "architecture.md"


@pytest.mark.parametrize("package", floors.SOURCES)
def test_picture_has_every_room_once(package: str) -> None:
    folder = floors.SOURCES[package]
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__", "__main__"}
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    drawn = [room for floor in floors.contracts()[package] for room in floor]
    assert sorted(drawn) == sorted(modules | packages)


def test_every_place_named_for_a_change_exists() -> None:
    table = DOCUMENT.read_text(encoding="utf-8").partition("## Where a change goes")[2].partition("\n## ")[0]
    places = [place for place in re.findall(r"`([^` ]+)`", table) if "/" in place]
    assert len(places) > 10
    assert [place for place in places if not any(map(Path.exists, candidates(place)))] == []


def candidates(place: str) -> list[Path]:
    """Expand the braces of ``tests/{client,server}/``."""
    braces = re.search(r"\{(.*)\}", place)
    if braces is None:
        return [floors.ROOT / place]
    return [floors.ROOT / place.replace(braces[0], name) for name in braces[1].split(",")]
