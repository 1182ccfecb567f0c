"""The protocol's tables and diagram in protocol.md, generated from the code that they describe."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from types import NoneType
from typing import Any, get_args

from msgspec.structs import FieldInfo, fields
from pluriverse_protocol import limits
from pluriverse_protocol.env_options import Option
from pluriverse_protocol.env_spaces import Choice, Spaces
from pluriverse_protocol.episodes import TRANSITIONS, Event, State
from pluriverse_protocol.kinds import describe
from pluriverse_protocol.messages import AGENT_METHODS, SERVER_METHODS, Headers
from pluriverse_protocol.reports import REPORTS, REQUESTS
from pluriverse_protocol.tree import Node


def sections() -> dict[str, str]:
    """Return the generated parts of docs/protocol.md by the names in their markers."""
    return {
        "headers": _fields("header", Headers),
        "server-messages": _messages("method", SERVER_METHODS),
        "agent-messages": _messages("method", AGENT_METHODS),
        "spaces": _fields("key", Spaces),
        "choice": _fields("key", Choice),
        "option": _fields("key", Option),
        "node": _fields("key", Node),
        "reports": _messages("report", REPORTS),
        "requests": _messages("request", REQUESTS),
        "transitions": _transitions(),
        "diagram": _diagram(),
        "limits": _limits(),
    }


def fill(document: str) -> str:
    """Return ``document`` with the text between each pair of markers replaced."""
    for name, text in sections().items():
        begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
        before, found_begin, rest = document.partition(begin)
        _, found_end, after = rest.partition(end)
        if not (found_begin and found_end):
            raise ValueError(f"the document lacks {begin} … {end}")
        document = f"{before}{begin}\n{text}\n{end}{after}"
    return document


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    titles = list(header)
    lines = [titles, ["---"] * len(titles), *(list(row) for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _fields(title: str, kind: type[Any]) -> str:
    return _table((title, "value"), ((f"`{field.name}`", _value(field)) for field in fields(kind)))


def _messages(title: str, table: Mapping[str, type[Any]]) -> str:
    return _table(
        (title, "keys", "meaning"),
        (
            (f"`{name}`", "<br>".join(f"`{f.name}`: {_value(f)}" for f in fields(kind)) or "none", _summary(kind))
            for name, kind in table.items()
        ),
    )


def _value(field: FieldInfo) -> str:
    absent = "" if field.required else ", or null" if NoneType in get_args(field.type) else ", may be absent"
    return describe(field.type).replace("|", "\\|") + absent


def _summary(kind: type[Any]) -> str:
    return " ".join((inspect.getdoc(kind) or "").split("\n\n")[0].split()).replace("``", "`")


def _transitions() -> str:
    return _table(
        ("state", "when", "then, in order", "state after"),
        (
            (_state(state), event.value, "; ".join(step.value for step in steps) or "nothing", _state(after))
            for (state, event), (after, steps) in TRANSITIONS.items()
        ),
    )


def _state(state: State) -> str:
    return f"`{state.value}`" if state.value else "`null`"


def _diagram() -> str:
    edges: dict[tuple[State, State], list[Event]] = {}
    for (state, event), (after, steps) in TRANSITIONS.items():
        if state is not after or any(step.name in ("BEGIN", "RETRY", "SEND_REWARD") for step in steps):
            edges.setdefault((state, after), []).append(event)
    name = {State.IDLE: "idle", State.RESETTING: "resetting", State.RUNNING: "running"}
    lines = [f"    {name[a]} --> {name[b]}: {', '.join(e.name.lower() for e in es)}" for (a, b), es in edges.items()]
    return "\n".join(["```mermaid", "stateDiagram-v2", "    [*] --> idle", *lines, "```"])


def _limits() -> str:
    source = inspect.getsource(limits).splitlines()
    rows: list[tuple[str, str, str]] = []
    comment: list[str] = []
    for line in source:
        if line.startswith("#"):
            comment.append(line.removeprefix("# "))
        elif ": Final = " in line:
            name = line.split(":")[0]
            rows.append((f"`{name}`", f"{getattr(limits, name):,}", " ".join(comment)))
        elif not line:
            comment = []
    return _table(("limit", "value", "why"), rows)
