"""An author of runtimes, who types commands."""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

from .ports import free_port
from .remotes import started


class Author:
    """Somebody in a folder of their own who types commands; the password is theirs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.environment = {
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PLURIVERSE_VNC_PORT": str(free_port()),
            "PLURIVERSE_REWARDER_PORT": str(self.port),
            "PLURIVERSE_PASSWORD": "author",
            "MINARI_DATASETS_PATH": str(folder / "datasets"),
        }

    def type(self, command: str, status: int | None = 0, timeout_s: float = 110) -> str:
        """Run a command to its end, with any ``status`` if None; returns all that it printed."""
        words = ["sh", "-c", command]
        done = subprocess.run(
            words, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=timeout_s
        )
        assert status in (None, done.returncode), f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    @contextlib.asynccontextmanager
    async def typing(self, command: str) -> AsyncGenerator[str]:
        """Run a command that goes on until Ctrl-C; gives what it printed first."""
        words = f"cd {self.folder} && exec {command}"
        with started(["sh", "-c", words], env=self.environment) as (process, said):
            yield said
            os.killpg(process.pid, signal.SIGINT)
            await asyncio.to_thread(process.wait, 20)
