"""What is put into every document before its own scripts: the watcher, with the manifest's expressions in it. Pure."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from importlib import resources
from typing import Any, Final

from pluriverse_server.manifest.runtime import Manifest

from .values import MAX_CHARS, MAX_REASON_CHARS

# About a frame of a 60 Hz screen: oftener tells nothing new, more seldom makes rewards late.
EVERY_MS: Final = 16

# Timers are late on a busy machine; one that is so late has been stopped.
STALLED_MS: Final = 300

# A page on the screen gets its next frame within a twentieth of this.
NO_FRAME_MS: Final = 250

# The expressions that may be absent.
_KEYS: Final = ("begin", "ready", "done", "truncated", "text", "observation", "picture")


class Watcher:
    """The watcher of one runtime's pages. Its names are drawn anew for each, so that no page counts on them."""

    def __init__(self, manifest: Manifest) -> None:
        assert manifest.page is not None
        self.binding: Final = f"_{secrets.token_hex(8)}"
        self._engine = f"_{secrets.token_hex(8)}"
        self._page = manifest.page
        self._functions = {key: getattr(manifest.page, key) for key in _KEYS}
        self._rewards = [reward.value or "" for reward in manifest.rewards]
        self._code = (
            resources.files("pluriverse_server.sources.page").joinpath("watcher.js").read_text(encoding="utf-8")
        )

    @property
    def functions(self) -> dict[str, str]:
        """Each expression as a JavaScript function, by its key in the manifest."""
        written = {f"page.{key}": _function(key, text) for key, text in self._functions.items() if text is not None}
        return written | {
            f"rewards[{index}].value": _function("value", text) for index, text in enumerate(self._rewards)
        }

    def script(self, episode: Mapping[str, Any] | None) -> str:
        """JavaScript for each new document; ``episode`` (see ``episode``) is the one under way, if one is."""
        expressions = [f"{key}: {_function(key, text) if text else 'null'}" for key, text in self._functions.items()]
        rewards = ", ".join(_function("value", text) for text in self._rewards)
        options = {
            "binding": self.binding,
            "engine": self._engine,
            "episode": episode,
            "menus": "menus" in self._page.allow,
            "everyMs": EVERY_MS,
            "stalledMs": STALLED_MS,
            "noFrameMs": NO_FRAME_MS,
            "maxChars": MAX_CHARS,
            "shownChars": MAX_REASON_CHARS,
        }
        written = f"{{ {', '.join(expressions)}, rewards: [{rewards}] }}"
        return f"({self._code.strip().rstrip(';')})({{ ...{json.dumps(options)}, expressions: {written} }});"

    def begin(self, episode: Mapping[str, Any]) -> str:
        """JavaScript that begins an episode in the page as it is."""
        return f"{self._engine}.begin({json.dumps(episode)})"

    @property
    def leave(self) -> str:
        """JavaScript that a page is told before it is left for another."""
        return f"globalThis.{self._engine}?.leave()"

    @property
    def check(self) -> str:
        """JavaScript that a page which is alive answers; nothing where there is no watcher."""
        return f"globalThis.{self._engine}?.check()"


def episode(episode_id: int, seed: int, entry: Mapping[str, Any]) -> dict[str, Any]:
    """What the watcher is told of an episode. The entry goes as JSON text, read anew for each."""
    return {"episode": episode_id, "seed": seed, "env": json.dumps(entry)}


def _function(key: str, text: str) -> str:
    # On lines of its own, so that a comment at the expression's end comments out nothing else.
    return f"{'async ' if key == 'begin' else ''}(pluriverse) => (\n{text}\n)"
