"""What docs/fleet.md tells people to type, typed; the sections on clusters are followed beside their engines' tests."""

from __future__ import annotations

import re

import pytest
from support.leftovers import Leftovers
from support.remotes import ROOT

pytestmark = pytest.mark.display

FLEET = (ROOT / "docs/fleet.md").read_text()


def section(title: str) -> list[str]:
    """Return the Python of one section."""
    text = re.split(r"^## ", FLEET.split(f"## {title}\n")[1], maxsplit=1, flags=re.MULTILINE)[0]
    return [block.split("```")[0] for block in text.split("```python\n")[1:]]


def test_environments_share_a_warm_pool() -> None:
    leftovers = Leftovers()
    (sample,) = section("Warm pools")
    assert "open_pool(" in sample
    for shown, here in (("docker?warm=4", "local?warm=1"), ("range(100)", "range(2)"), ("claim(2)", "claim(1)")):
        assert shown in sample
        sample = sample.replace(shown, here)
    played: list[object] = []
    sample = sample.replace("            ...\n", "            played.append(env.addresses)\n")
    exec(compile(sample, "fleet.md", "exec"), {"played": played})  # noqa: S102 - our own documentation
    assert len(played) == 2
    assert played[0] != played[1]
    leftovers.assert_none()
