"""Errors in running tasks."""

from __future__ import annotations

import asyncio
from typing import Any, cast


def inject(name: str, error: Exception) -> None:
    """Raise ``error`` where the task of this name waits."""
    (task,) = [task for task in asyncio.all_tasks() if task.get_name() == name]
    cast("Any", task)._fut_waiter.set_exception(error)
