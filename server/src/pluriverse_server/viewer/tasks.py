"""Two directions of one connection: the first to end decides for both."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

End = tuple[int, str]
"""How a WebSocket is to be closed: its code and its reason."""


async def first_end(*directions: Coroutine[Any, Any, End]) -> End:
    """Run all directions until one returns or raises, cancel the others, and give what that one gave."""
    tasks = [asyncio.ensure_future(direction) for direction in directions]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return done.pop().result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
