"""What is logged of those who come to a port without the password. The ports' rules are the other modules'."""

from __future__ import annotations

import logging
from typing import Any

from . import audit
from .connections import ConnectionTable
from .throttle import PasswordThrottle

log = logging.getLogger(__name__)


def log_dropped(port: str, table: ConnectionTable[Any], address: str, now: float) -> None:
    """Log that connections were dropped, for the last one of ``address``, if there were any and it is time for it."""
    count = table.to_log(now)
    if count:
        log.warning("%s: %d connections without the password were dropped, last for %s", port, count, address)


def note_guess(port: str, throttle: PasswordThrottle, address: str, *, right: bool, now: float) -> None:
    """Note a guess' result with the throttle, and log it as rarely as the throttle decides."""
    if throttle.judged(address, right=right, now=now):
        log.warning("%s: a wrong password from %s (%d in all)", port, address, throttle.wrong)
        audit.note("wrong password", None, address, port=port, in_all=throttle.wrong)
