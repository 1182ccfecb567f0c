"""How hypothesis runs here: never judged by its speed, since other tests may share the machine."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
