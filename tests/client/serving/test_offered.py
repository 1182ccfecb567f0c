from pathlib import Path

import pytest
from pluriverse.errors import ConfigurationError
from pluriverse.runtimes import VARIABLE
from pluriverse.serving.offered import Offered
from support.pages import write_runtime


def test_environments_are_offered_by_their_ids_and_by_patterns() -> None:
    offered = Offered(["gym-core.PongNo*", "wob.mini.ClickTest-v0"], "local:1")
    assert offered.ids == ["gym-core.PongNoFrameskip-v0", "gym-core.PongNoFrameskip-v3", "wob.mini.ClickTest-v0"]
    offered.require("wob.mini.ClickTest-v0")


@pytest.mark.parametrize(
    ("wanted", "near"),
    [("gym-core.PongNoFrameSkip-v3", "gym-core.PongNoFrameskip-v3"), ("ClickT*", "wob.mini.ClickTab-v0")],
)
def test_what_matches_nothing_is_refused_with_what_is_near(wanted: str, near: str) -> None:
    with pytest.raises(ConfigurationError, match=f"no environment matches .*the nearest: {near}"):
        Offered([wanted], "local:1")


def test_what_is_not_offered_is_refused_with_what_is_near() -> None:
    offered = Offered(["wob.mini.*"], "2")
    for wanted in ("wob.mini.ClickTset-v0", "wob.flight.ClickTest-v0"):
        with pytest.raises(ConfigurationError, match=r"isn't allowed; the nearest: wob\.mini\.ClickTest-v0"):
            offered.require(wanted)


def test_remotes_elsewhere_may_have_runtimes_that_are_not_known_here() -> None:
    offered = Offered(["elsewhere.*"], "pluriverse://remote:15900")
    assert offered.ids == []
    offered.require("elsewhere.Game-v0")
    with pytest.raises(ConfigurationError, match=r"no environment matches 'gym-core\.Pongg'"):
        Offered(["gym-core.Pongg"], "pluriverse://remote:15900")


def test_environments_of_runtimes_of_ones_own_are_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_runtime(tmp_path, {"win": "<p>"})
    monkeypatch.setenv(VARIABLE, str(folder))
    assert "pages.win-v0" in Offered(["*"], "local:1").ids
