import pytest
from pluriverse.catalogue import environments
from pluriverse.runtimes import VARIABLE, listed
from support.remotes import ROOT


@pytest.mark.slow
def test_list_is_what_the_runtimes_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(ROOT / "runtimes"))
    said = {str(entry["id"]): entry.get("split", "") for entry in environments()}
    assert listed() == said, "renew it: make setup-dev"
