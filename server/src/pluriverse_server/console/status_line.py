"""The status line of a terminal, rewritten in place."""

from __future__ import annotations

import asyncio
import shutil
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final, TextIO

INTERVAL_S: Final = 0.5

CLEAR: Final = "\r\x1b[K"


def compose(status: Mapping[str, Any]) -> str:
    """Return the line: state, environment, episode, reward, frame rate, lag, agents."""
    if not status:
        return "starting"
    fps = status["fps_measured"]
    lag = status["reward_lag_ms"]
    parts = [
        f"{status['env_state'] or 'idle'} {status['env_id'] or '-'}",
        f"episode {status['episode_id']}",
        f"reward {status['episode_reward']:g}",
        f"{fps:.1f} fps" if fps is not None else "- fps",
        f"late {status['late_frames']}",
        f"lag {lag:.1f} ms" if lag is not None else "lag -",
        f"agents {status['agents']}",
        f"viewers {status['viewers']}",
    ]
    return " | ".join(parts)


async def show(line: Callable[[], str], stream: TextIO = sys.stderr) -> None:
    try:
        while True:
            width = shutil.get_terminal_size().columns
            stream.write(CLEAR + line()[: width - 1])
            stream.flush()
            await asyncio.sleep(INTERVAL_S)
    finally:
        stream.write(CLEAR)
        stream.flush()


class ClearingStream:
    """Writes log lines to a terminal, each in the place of the status line."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write ``text`` over the status line, which is redrawn below."""
        return self._stream.write(CLEAR + text)

    def flush(self) -> None:
        self._stream.flush()
