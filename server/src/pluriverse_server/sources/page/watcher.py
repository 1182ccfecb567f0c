"""The script that runs in every document before its own: the watcher, with the manifest's expressions. Pure."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from importlib import resources
from typing import Any, Final

from pluriverse_server.manifest.runtime import Manifest

from .messages import MAX_CHARS, MAX_REASON_CHARS

# About a frame of a 60 Hz screen: shorter finds nothing new, longer makes rewards late.
EVERY_MS: Final = 16

# Timers are late on a busy machine; one that is this late was stopped by the page.
STALLED_MS: Final = 300

# A visible page gets its next frame within a twentieth of this.
NO_FRAME_MS: Final = 250

# The optional expressions.
_KEYS: Final = ("begin", "ready", "done", "truncated", "text", "observation", "picture")


class Watcher:
    """The watcher of one runtime's pages. Its names are random, so that no page can rely on them."""

    def __init__(self, manifest: Manifest, *, menus: bool = False) -> None:
        """``menus``: whether the browser's own open."""
        assert manifest.page is not None
        self.binding: Final = f"_{secrets.token_hex(8)}"
        self._engine = f"_{secrets.token_hex(8)}"
        self._menus = menus
        self._functions = {key: getattr(manifest.page, key) for key in _KEYS}
        self._rewards = [reward.value or "" for reward in manifest.rewards]
        self._code = (
            resources.files("pluriverse_server.sources.page").joinpath("watcher.js").read_text(encoding="utf-8")
        )

    @property
    def functions(self) -> dict[str, str]:
        """The expressions as JavaScript functions, by their keys in the manifest."""
        written = {f"page.{key}": _function(key, text) for key, text in self._functions.items() if text is not None}
        return written | {
            f"rewards[{index}].value": _function("value", text) for index, text in enumerate(self._rewards)
        }

    def script(self, episode: Mapping[str, Any] | None, *, lockstep: bool = False) -> str:
        """Return the script for new documents; ``episode`` is the current one as returned by ``episode()``, or None.

        ``lockstep``: look when asked to by ``check`` alone.
        """
        expressions = [f"{key}: {_function(key, text) if text else 'null'}" for key, text in self._functions.items()]
        rewards = ", ".join(_function("value", text) for text in self._rewards)
        options = {
            "binding": self.binding,
            "engine": self._engine,
            "episode": episode,
            "menus": self._menus,
            "everyMs": 0 if lockstep else EVERY_MS,
            "stalledMs": STALLED_MS,
            "noFrameMs": NO_FRAME_MS,
            "maxChars": MAX_CHARS,
            "shownChars": MAX_REASON_CHARS,
        }
        written = f"{{ {', '.join(expressions)}, rewards: [{rewards}] }}"
        return f"({self._code.strip().rstrip(';')})({{ ...{json.dumps(options)}, expressions: {written} }});"

    def begin(self, episode: Mapping[str, Any]) -> str:
        return f"{self._engine}.begin({json.dumps(episode)})"

    @property
    def leave(self) -> str:
        return f"globalThis.{self._engine}?.leave()"

    @property
    def check(self) -> str:
        return f"globalThis.{self._engine}?.check()"


def episode(episode_id: int, seed: int, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an episode as the watcher gets it; the entry is JSON text, so that each episode has its own copy."""
    return {"episode": episode_id, "seed": seed, "env": json.dumps(entry)}


def _function(key: str, text: str) -> str:
    # On lines of its own, in case the expression ends with a comment.
    return f"{'async ' if key == 'begin' else ''}(pluriverse) => (\n{text}\n)"
