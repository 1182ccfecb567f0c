"""Ends that already hold as an episode begins: by first readings, by ``ready``, or in recordings."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import regex
from pluriverse_protocol.recording_file import open_recording
from pluriverse_protocol.recordings import MalformedRecording, Said
from pluriverse_server.manifest.conditions import Value, describe, holds
from pluriverse_server.manifest.game import GameTables
from pluriverse_server.manifest.runtime import KeyPath
from pluriverse_server.manifest.sources import LogSource


def ends_at_once(game: GameTables, recorded: Mapping[str, Mapping[str, Value]]) -> Iterator[tuple[KeyPath, str]]:
    """Yield each end that holds at the first reading, with what it would do.

    ``recorded``: the values when an episode was ready, by the names of recordings.
    """
    moments = {"at the first reading": _said_at_first(game), **_ready(game)}
    moments |= {f"when an episode was ready in {name}": values for name, values in recorded.items()}
    for kind, conditions in (("done", game.episode.done), ("truncated", game.episode.truncated)):
        for reason, text in conditions.items():
            path = ("episode", kind, *([reason] if reason else []))
            when = next((when for when, values in moments.items() if holds(text, values)), None)
            if when is not None:
                known = describe(text, moments[when])
                yield path, f"{text!r} holds already {when}, where {known}: no episode could begin; choose a later sign"


def values_when_ready(recording: Path, env_id: str) -> dict[str, Value]:
    """Return what counted when the first episode of a recording was ready; nothing if it isn't this environment's."""
    values: dict[str, Value] = {}
    try:
        header, records = open_recording(recording)
        if header.env_id != env_id:
            return {}
        for record in records:
            match record:
                case Said(said={"report": "readings"} as said):
                    for name, reading in cast("dict[str, dict[str, Any]]", said["readings"]).items():
                        values[name] = reading.get("value")
                case Said(said={"report": "ready"}):
                    return values
                case _:
                    pass
    except (OSError, MalformedRecording):
        pass  # Scoring reports its problem.
    return {}


def _said_at_first(game: GameTables) -> dict[str, Value]:
    first: dict[str, Value] = {}
    for name, source in game.sources.items():
        if isinstance(source, LogSource) and "value" not in regex.compile(source.pattern).groupindex:
            first[name] = 0.0
    return first


def _ready(game: GameTables) -> dict[str, dict[str, Value]]:
    """Return the values without which ``ready`` doesn't hold."""
    if game.episode.ready is None:
        return {}
    tree = ast.parse(game.episode.ready.strip(), mode="eval").body
    parts = tree.values if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.And) else [tree]
    values: dict[str, Value] = {}
    for part in parts:
        match part:
            case ast.Name(id=name):
                values[name] = True
            case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name)):
                values[name] = False
            case ast.Compare(
                left=ast.Name(id=name),
                ops=[ast.Eq()],
                comparators=[ast.Constant(value=str() | int() | float() as value)],
            ):
                values[name] = value
            case _:
                pass
    return {"where ready does": values}
