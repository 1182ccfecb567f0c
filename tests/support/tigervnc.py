"""TigerVNC's servers as others start them: with a port and a password of their own."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

from .waiting import DEADLINE_S


def write_password_file(path: Path, password: str) -> None:
    """Write TigerVNC's obfuscated form of the password."""
    made = subprocess.run(["tigervncpasswd", "-f"], input=password.encode(), capture_output=True, check=True)
    path.write_bytes(made.stdout)


async def wait_for_greeting(port: int) -> None:
    async with asyncio.timeout(DEADLINE_S):
        while True:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.01)
                continue
            greeting = await reader.read(4)
            writer.close()
            if greeting == b"RFB ":
                return
