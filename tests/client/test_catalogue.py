from pathlib import Path

import pytest
from pluriverse.catalogue import CatalogueError, environments
from pluriverse.runtimes import VARIABLE


def test_environments_are_asked_of_the_runtimes_here() -> None:
    entries = environments("gym-core")
    pong = next(entry for entry in entries if entry["id"] == "gym-core.PongDeterministic-v3")
    assert (pong["runtime"], pong["fps"]) == ("gym-core", 60.0)
    assert entries == sorted(entries, key=lambda entry: str(entry["id"]))


@pytest.mark.container
def test_environments_are_asked_of_images_where_the_runtime_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    assert "gym-core.PongDeterministic-v3" in {entry["id"] for entry in environments("gym-core")}


def test_runtime_that_cannot_say_what_it_has_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "runtime.toml").write_text("[runtime")
    with pytest.raises(CatalogueError, match=r"runtime broken: .*not TOML"):
        environments("broken")
    with pytest.raises(CatalogueError, match="there is no runtime 'nowhere'"):
        environments("nowhere")
