"""The file with the list of tokens, which is read again when it changes."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Final

from pluriverse_server.access import audit
from pluriverse_server.access.secrets import Secrets
from pluriverse_server.access.tokens import MAX_TOKENS, Token, TokensError, parse_tokens

log = logging.getLogger(__name__)

# After this a removed token isn't accepted, and its connections are closed.
LOOK_EVERY_S: Final = 2.0

# Comments take more than tokens.
MAX_BYTES: Final = MAX_TOKENS * 1024


def read_tokens(path: Path, password: str | None) -> tuple[Token, ...]:
    try:
        return parse_tokens(_read(path), password)
    except TokensError as error:
        raise TokensError(f"the tokens in {path}: {error}") from None


async def watch(path: Path, password: str | None, secrets: Secrets) -> None:
    """Keep the secrets in sync with the file, until cancelled. If the file is invalid the old tokens stay."""
    fault: str | None = None
    while True:
        await asyncio.sleep(LOOK_EVERY_S)
        try:
            # A file of the network's may take its time.
            now = await asyncio.to_thread(read_tokens, path, password)
        except TokensError as error:
            if str(error) != fault:
                log.warning("%s; the previous tokens stay valid", error)
            fault = str(error)
            continue
        if fault is not None:
            log.info("the tokens in %s are valid again", path)
            fault = None
        tokens = secrets.listed
        if now != tokens:
            audit.note("tokens changed", None, str(path), added=_names(now, tokens), removed=_names(tokens, now))
            log.info("the tokens have changed; now %d", len(now))
            secrets.replace_listed(now)


def _names(tokens: tuple[Token, ...], without: tuple[Token, ...]) -> list[str]:
    return [str(token) for token in tokens if token not in without]


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise TokensError(f"over {MAX_BYTES} bytes")
        return data.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise TokensError(f"they can't be read: {error}") from error
