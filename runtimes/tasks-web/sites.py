"""Answers for the site whose data is in HOME."""

from __future__ import annotations

from pathlib import Path

import board_site
import mail_site
import shop_site
from pluriverse_server.kit import PageRequest

_SITES = {"hearth": shop_site, "pigeon": mail_site, "planks": board_site}


def respond(request: PageRequest, home: Path) -> str | None:
    name = next(name for name in _SITES if (home / name).exists())
    return _SITES[name].respond(request, home)
