"""What an episode's page needs, as the daemon checks it before the first, and as its scraper shows it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urljoin

from pluriverse_protocol.env_options import Value

from pluriverse_server.manifest.page import PageTable
from pluriverse_server.manifest.runtime import NO_OPTIONS, EnvTable, fill_address
from pluriverse_server.process import StartError, executable
from pluriverse_server.sources.page.files import ORIGIN, Files

BINARY: Final = "chromium"


def page_address(
    table: PageTable, entry: EnvTable, *, seed: int, fps: float, options: Mapping[str, Value] = NO_OPTIONS
) -> str:
    address = fill_address(table, entry, seed=seed, fps=fps, options=options)
    return address if table.files is None else urljoin(f"{ORIGIN}/", address)


def page_files(directory: Path, table: PageTable, folder: str, address: str = "127.0.0.1", port: int = 0) -> Files:
    return Files(directory / folder, directory / table.serve if table.serve is not None else None, address, port)


def page_script(directory: Path, table: PageTable) -> str | None:
    try:
        return (directory / table.script).read_text(encoding="utf-8") if table.script else None
    except (OSError, ValueError) as error:
        raise StartError(f"page.script {directory / str(table.script)} can't be read: {error}") from error


def require_page(directory: Path, table: PageTable, entry: EnvTable, fps: float) -> None:
    page_script(directory, table)
    address = page_address(table, entry, seed=0, fps=fps)
    if table.files is not None:
        page_files(directory, table, table.files).require(address)
    executable(BINARY, package="chromium")
