import asyncio
import logging
import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from pluriverse_server.access import audit
from pluriverse_server.access.secrets import Secrets
from pluriverse_server.access.tokens import TokensError
from pluriverse_server.remote import token_file
from pluriverse_server.remote.token_file import MAX_BYTES, read_tokens, watch
from support.waiting import eventually

ONE = "agent one first-token\n"
TWO = "agent two second-token\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "tokens"
    path.write_text(ONE)
    return path


@pytest.fixture
async def secrets(path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Secrets]:
    """What a watched file says."""
    monkeypatch.setattr(token_file, "LOOK_EVERY_S", 0.02)
    secrets = Secrets(None, read_tokens(path, None))
    with audit.written_to(path.parent / "audit"):
        watching = asyncio.create_task(watch(path, None, secrets))
        yield secrets
        watching.cancel()
        await asyncio.wait({watching})


def write(path: Path, text: str) -> None:
    path.write_text(text)


def replace(path: Path, text: str) -> None:
    other = path.with_suffix(".new")
    other.write_text(text)
    other.rename(path)


def remove(path: Path) -> None:
    path.unlink()


def audited(path: Path) -> list[str]:
    return (path.parent / "audit").read_text().splitlines()


def names(secrets: Secrets) -> list[str]:
    return [token.name for token in secrets.listed]


async def test_file_that_changes_is_read_again(path: Path, secrets: Secrets) -> None:
    write(path, ONE + TWO)
    await eventually(lambda: names(secrets) == ["one", "two"])
    # As Kubernetes does: another file in its place.
    replace(path, TWO)
    await eventually(lambda: names(secrets) == ["two"])
    await eventually(lambda: len(audited(path)) == 2)
    last = audited(path)[-1]
    assert '"added":[],"removed":["agent one"]' in last
    assert 'token"' not in last


async def test_tokens_stay_while_the_file_is_broken(
    path: Path, secrets: Secrets, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    write(path, "agent one\n")
    await eventually(lambda: "the previous tokens stay valid" in caplog.text)
    remove(path)
    await eventually(lambda: "can't be read" in caplog.text)
    assert names(secrets) == ["one"]
    write(path, TWO)
    await eventually(lambda: names(secrets) == ["two"])
    assert "valid again" in caplog.text
    assert caplog.text.count("the previous tokens stay valid") == 2


def test_what_is_no_list_is_named_with_its_file(path: Path) -> None:
    with pytest.raises(TokensError, match=rf"the tokens in {path}: .*begin with the same 8"):
        read_tokens(path, "first-token")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(TokensError, match="can't be read"):
        read_tokens(path, None)
    path.write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(TokensError, match="over 65536 bytes"):
        read_tokens(path, None)
    os.truncate(path, 0)
    assert read_tokens(path, None) == ()
