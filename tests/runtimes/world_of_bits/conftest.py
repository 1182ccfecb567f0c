"""The runtime with its pages, which are fetched if they aren't there, and one remote that plays all tasks."""

import subprocess
import sys
from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio
from support.pages import page_remote, short_folder
from support.wob import RUNTIME, Player, copy_runtime


@pytest.fixture(scope="session", autouse=True)
def vendored() -> None:
    """Miniwob's pages are where the runtime wants them."""
    subprocess.run([sys.executable, str(RUNTIME / "vendor.py")], check=True, timeout=180, capture_output=True)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def player(vendored: None) -> AsyncGenerator[Player]:
    """A player on a remote of its own."""
    with short_folder() as folder:
        async with page_remote(copy_runtime(folder)) as remote:
            player = Player(remote)
            yield player
            player.close()
