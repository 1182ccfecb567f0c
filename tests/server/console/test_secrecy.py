"""A process that keeps its password, and those of the same user that look for it."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from pluriverse_server import confine
from pluriverse_server.console.secrecy import PASSWORD_VARIABLE, TOKENS_VARIABLE, read_password, read_tokens
from pluriverse_server.settings import SettingsError

PASSWORD = "tell-noone"
TOKEN = "neither-tell-this"

KEEPER = """
import os, subprocess, sys
from pluriverse_server.console.secrecy import keep_secret
keep_secret({password!r})
print("kept", flush=True)
sys.stdin.read()
"""

# Looks into a process as far as it is let.
SPY = """
import re, sys
pid, secret = sys.argv[1], sys.argv[2].encode()
for name in ("environ", "mem", "maps", "cmdline"):
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            print(name, secret in (file.read() if name != "mem" else b""))
    except OSError as error:
        print(name, error.strerror)
"""


@contextlib.contextmanager
def keeper(*arguments: str, env: dict[str, str]) -> Generator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        [sys.executable, "-c", KEEPER.format(password=PASSWORD), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **env},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"kept\n"
    try:
        yield process
    finally:
        process.communicate()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may look")
@pytest.mark.parametrize("arguments", [[f"--password={PASSWORD}"], ["--password", PASSWORD]])
def test_password_stands_in_no_environment_and_on_no_command_line(arguments: list[str]) -> None:
    env = {PASSWORD_VARIABLE: PASSWORD, TOKENS_VARIABLE: f"# these\nagent a {TOKEN}\n", "KEPT": "else"}
    with keeper(*arguments, env=env) as process:
        folder = Path(f"/proc/{process.pid}")
        environment = (folder / "environ").read_bytes()
        # Its program's text, in these tests alone, has the password in it.
        words = (folder / "cmdline").read_bytes().split(b"\0")[3:]
    assert PASSWORD.encode() not in environment
    assert TOKEN.encode() not in environment
    assert b"KEPT=else" in environment
    assert PASSWORD.encode() not in b" ".join(words)


def test_process_of_the_same_user_can_look_neither_at_its_memory_nor_its_environment() -> None:
    with keeper(env={PASSWORD_VARIABLE: PASSWORD}) as process:
        spy = [sys.executable, "-I", "-S", confine.__file__, confine.NONE, sys.executable, "-c", SPY]
        saw = subprocess.run([*spy, str(process.pid), PASSWORD], check=True, capture_output=True, text=True).stdout
    refused = dict(line.split(" ", 1) for line in saw.splitlines())
    assert refused["environ"] == refused["mem"] == refused["maps"] == "Permission denied"


def test_password_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("of a file\n")
    assert read_password(file) == "of a file"
    assert read_password(None) is None
    with pytest.raises(SettingsError, match="can't be read"):
        read_password(tmp_path / "none")


def test_tokens_are_read_from_a_file_or_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_tokens(None, None) is None
    file = tmp_path / "tokens"
    file.write_text(f"agent a {TOKEN}")
    tokens = read_tokens(file, None)
    assert tokens is not None
    assert (tokens[0].name, tokens[0].secret) == ("a", TOKEN)
    monkeypatch.setenv(TOKENS_VARIABLE, file.read_text())
    assert read_tokens(None, None) == tokens
    with pytest.raises(SettingsError, match=r"both in .*; give one of them"):
        read_tokens(file, None)
    with pytest.raises(SettingsError, match=r"PLURIVERSE_TOKENS: .*begin with the same 8"):
        read_tokens(None, TOKEN[:8])
    monkeypatch.delenv(TOKENS_VARIABLE)
    with pytest.raises(SettingsError, match="can't be read"):
        read_tokens(tmp_path / "none", None)
