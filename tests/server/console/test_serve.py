from pathlib import Path

import pytest
from pluriverse_server.access.tokens import parse_tokens
from pluriverse_server.console.serve import greet
from pluriverse_server.manifest.runtime import load
from pluriverse_server.settings import Settings

UNREWARDED = """
program.command = ["sleep", "600"]
envs = [{ id = "still.Still-v0" }]
[runtime]
id = "still"
version = "1.0.0"
title = "Nothing moves"
default_env = "still.Still-v0"
"""

GYM_CORE = Path(__file__).parents[3] / "runtimes" / "gym-core"


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("0.0.0.0", "127.0.0.1"),
        ("::", "[::1]"),
        ("fe80::1", "[fe80::1]"),
        ("localhost", "localhost"),
    ],
)
def test_addresses_that_are_printed_lead_to_where_it_listens(
    capsys: pytest.CaptureFixture[str], host: str, address: str
) -> None:
    greet(Settings(GYM_CORE, host=host, password="sesame"), load(GYM_CORE))
    printed = capsys.readouterr().out
    assert f"  screen    vnc://{address}:5900\n" in printed
    assert f"  viewer    http://{address}:15900/viewer/?password=sesame\n" in printed
    assert f"  rewarder  ws://{address}:15900\n" in printed
    assert "rewards" not in printed


def test_a_runtime_without_rewards_says_that_nothing_is_earned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "runtime.toml").write_text(UNREWARDED)
    greet(Settings(tmp_path, password="sesame"), load(tmp_path))
    assert "  rewards   none: its runtime.toml has no [[rewards]]" in capsys.readouterr().out


def test_where_there_are_tokens_alone_no_password_is_printed_nor_any_token(capsys: pytest.CaptureFixture[str]) -> None:
    tokens = parse_tokens("agent a first-token\noperator b second-token")
    greet(Settings(GYM_CORE, password=None, tokens=tokens), load(GYM_CORE), "&control=1")
    printed = capsys.readouterr().out
    assert "  tokens    2\n" in printed
    assert "  viewer    http://127.0.0.1:15900/viewer/\n" in printed
    assert "password" not in printed
    assert "first-token" not in printed
