"""A page's accessibility tree and a snapshot of its layout, as DevTools tells them, joined. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from pluriverse_server.sources.trees import TEXT, Found, Rectangle, intersection

from .covered import Drawn, covered

# What the snapshot has to say of each element beside its box, in this order.
STYLES: Final = ("position", "overflow-x", "overflow-y", "opacity", "visibility", "background-color")

# Frames of pages are advertisements, or one game; each takes a call more.
MAX_FRAMES: Final = 16

# Chromium's own roles, where others have another name for them.
_ROLES: Final = {"RootWebArea": "document", "StaticText": TEXT, "image": "img", "ListBoxOption": "option"}

# What stands for parts of a text, which has all that they say; and for marks before lines.
_PARTS: Final = frozenset(("InlineTextBox", "LineBreak", "ListMarker"))

# Their overflow is the frame's, which scrolls.
_ROOTS: Final = frozenset(("#document", "HTML", "BODY"))

_STATES: Final = frozenset(("checked", "pressed"))

Json = Mapping[str, Any]


@dataclass
class Layout:
    """What is drawn, by the ids of DOM nodes: where, and of texts that are cut off which part.

    ``frames``: the number of the document in a frame. ``passwords``: fields whose value is nobody's business.
    """

    boxes: dict[int, Rectangle] = field(default_factory=dict[int, Rectangle])
    texts: dict[int, str] = field(default_factory=dict[int, str])
    frames: dict[int, int] = field(default_factory=dict[int, int])
    passwords: set[int] = field(default_factory=set[int])


@dataclass(frozen=True, slots=True)
class _Room:
    """Where what is in an element may be seen: what flows, and what is positioned out of the flow. None: nowhere.

    ``solid``: nothing that it is in is drawn half transparent.
    """

    flow: Rectangle | None
    positioned: Rectangle | None
    solid: bool = True


class _Style(NamedTuple):
    """The values of ``STYLES``; a document has none."""

    position: str = "static"
    across: str = "visible"
    down: str = "visible"
    opacity: str = "1"
    visibility: str = "visible"
    background: str = ""


_NOWHERE: Final = _Room(None, None)


def frame_ids(snapshot: Json) -> list[str]:
    """Return the frames of a snapshot's documents, the page's own first; at most ``MAX_FRAMES``."""
    strings: list[str] = snapshot["strings"]
    return [strings[document["frameId"]] for document in snapshot["documents"][:MAX_FRAMES]]


def lay_out(snapshot: Json) -> Layout:
    """Return where everything in a snapshot (``DOMSnapshot.captureSnapshot`` with ``STYLES``) is on the screen."""
    layout = Layout()
    documents: Sequence[Json] = snapshot["documents"]
    # The first box of a document is that of its frame, at its scroll position. The page's fills the screen.
    waiting: list[tuple[int, Rectangle | None, tuple[float, float]]] = [(0, None, (0.0, 0.0))]
    while waiting:
        number, frame, place = waiting.pop()
        for inner, rectangle, visible in _lay_out(documents[number], snapshot["strings"], layout, frame, place):
            width, height = _size(documents[inner])
            left, top, right, bottom = rectangle
            # Borders are as wide on both sides, as a rule.
            left, top = (left + right - width) / 2, (top + bottom - height) / 2
            waiting.append((inner, intersection((left, top, left + width, top + height), visible), (left, top)))
    return layout


def _lay_out(
    document: Json, strings: list[str], layout: Layout, frame: Rectangle | None, place: tuple[float, float]
) -> Iterator[tuple[int, Rectangle, Rectangle]]:
    """Lay a document out; yield its frames' documents, with the frame's whole box and what of it is to be seen."""
    nodes, drawn = document["nodes"], document["layout"]
    ids: list[int] = nodes["backendNodeId"]
    parents: list[int] = nodes["parentIndex"]
    names: list[int] = nodes["nodeName"]
    attributes: list[list[int]] = nodes["attributes"]
    styles: list[list[int]] = drawn["styles"]
    texts: list[int] = drawn["text"]
    orders: list[int] = drawn["paintOrders"]
    by_node: dict[int, int] = {node: index for index, node in enumerate(drawn["nodeIndex"])}
    held: Mapping[str, list[int]] = nodes["contentDocumentIndex"]
    inner = dict(zip(held["index"], held["value"], strict=True))
    dx, dy = place[0] - document["scrollOffsetX"], place[1] - document["scrollOffsetY"]
    bounds: list[Rectangle] = [(x + dx, y + dy, x + dx + w, y + dy + h) for x, y, w, h in drawn["bounds"]]
    if frame is None:
        frame = (0.0, 0.0, *_size(document))
    whole = _Room(frame, frame)
    rooms: list[_Room] = []
    ends = _ends(parents)
    cut: dict[int, Rectangle] = {}
    seen: list[tuple[int, Drawn]] = []
    for node, parent in enumerate(parents):
        room = rooms[parent] if parent >= 0 else whole
        index = by_node.get(node)
        if index is None:
            rooms.append(room)
            continue
        box, order, below = bounds[index], orders[index], range(node, ends[node])
        if texts[index] >= 0:
            # Its styles are those of what it is in.
            if room.flow is not None:
                visible = intersection(box, room.flow)
                seen.append((node, Drawn(visible, order, below, opaque=False)))
                if visible != box:
                    cut[index] = room.flow
            rooms.append(room)
            continue
        style = _Style(*(strings[number] for number in styles[index])) if styles[index] else _Style()
        within = _within(style, room, frame)
        if within is None:
            rooms.append(_NOWHERE)
            continue
        if strings[names[node]] in _ROOTS:
            layout.boxes[ids[node]] = frame
            rooms.append(room)
            continue
        visible = intersection(box, within)
        solid = room.solid and style.opacity == "1"
        opaque = solid and style.visibility == "visible" and style.background.startswith("rgb(")
        seen.append((node, Drawn(visible, order, below, opaque)))
        if _is_password(attributes[node], strings):
            layout.passwords.add(ids[node])
        flow = within if style.across == style.down == "visible" else visible
        rooms.append(_Room(flow, room.positioned if style.position == "static" else flow, solid))
    for (node, each), hidden in zip(seen, covered([each for _, each in seen]), strict=True):
        if not hidden:
            layout.boxes[ids[node]] = each.box
            if node in inner:
                layout.frames[ids[node]] = inner[node]
                yield inner[node], bounds[by_node[node]], each.box
    for index, text in _visible_lines(document["textBoxes"], drawn, strings, cut, (dx, dy)).items():
        layout.texts[ids[drawn["nodeIndex"][index]]] = text


def _ends(parents: Sequence[int]) -> list[int]:
    """Return for each node of a document, which are depth first, the one after the last that is in it."""
    ends = list(range(1, len(parents) + 1))
    for node in range(len(parents) - 1, 0, -1):
        ends[parents[node]] = max(ends[parents[node]], ends[node])
    return ends


def _size(document: Json) -> tuple[float, float]:
    """Return the width and height of what is seen of a document at a time."""
    bounds: list[list[float]] = document["layout"]["bounds"]
    return (bounds[0][2], bounds[0][3]) if bounds else (0.0, 0.0)


def _within(style: _Style, room: _Room, frame: Rectangle) -> Rectangle | None:
    """Return where an element may be seen; None: nowhere."""
    if style.opacity == "0":
        return None
    if style.position == "fixed":
        return frame if room.positioned is not None else None
    return room.positioned if style.position == "absolute" else room.flow


def _is_password(attributes: Sequence[int], strings: list[str]) -> bool:
    said = [strings[index] for index in attributes]
    return any(
        name == "type" and value.lower() == "password" for name, value in zip(said[::2], said[1::2], strict=True)
    )


def _visible_lines(
    lines: Json, drawn: Json, strings: list[str], cut: Mapping[int, Rectangle], shift: tuple[float, float]
) -> dict[int, str]:
    """Return what is to be seen of the texts in ``cut``, which has where each may be."""
    texts = dict.fromkeys(cut, "")
    wholes: list[int] = drawn["text"]
    of: list[int] = lines["layoutIndex"]
    spans: Iterator[tuple[int, int]] = zip(lines["start"], lines["length"], strict=True)
    for index, (x, y, width, height), (start, length) in zip(of, lines["bounds"], spans, strict=True):
        if index in cut:
            x, y = x + shift[0], y + shift[1]  # noqa: PLW2901 - the same place on the screen
            left, top, right, bottom = intersection((x, y, x + width, y + height), cut[index])
            if left < right and top < bottom:
                # Offsets count as JavaScript does, in UTF-16.
                text = strings[wholes[index]].encode("utf-16-le", "surrogatepass")
                texts[index] += text[2 * start : 2 * (start + length)].decode("utf-16-le", "replace") + " "
    return texts


def join(trees: Sequence[Json], layout: Layout) -> list[Found]:
    """Return what is in ``trees`` (``Accessibility.getFullAXTree`` of each of ``frame_ids``), depth first."""
    found: list[Found] = []
    by_id: list[dict[str, Json]] = [{node["nodeId"]: node for node in tree["nodes"]} for tree in trees]
    entered: set[int] = {0}
    # Each with its tree and its parent in what was found; a stack, so that what comes first is on top.
    waiting: list[tuple[int, Json, int | None]] = [(0, tree["nodes"][0], None) for tree in trees[:1] if tree["nodes"]]
    while waiting:
        number, node, parent = waiting.pop()
        role, dom_id = node.get("role", {}).get("value", ""), node.get("backendDOMNodeId", -1)
        if role in _PARTS:
            continue
        is_secret = dom_id in layout.passwords
        if not node["ignored"]:
            found.append(_found(node, role, dom_id, parent, layout, secret=is_secret))
            parent = len(found) - 1
        if is_secret:
            continue
        frame = layout.frames.get(dom_id, len(trees))
        if frame < len(trees) and frame not in entered and trees[frame]["nodes"]:
            entered.add(frame)
            waiting.append((frame, trees[frame]["nodes"][0], parent))
        children = [by_id[number].pop(child) for child in node.get("childIds", ()) if child in by_id[number]]
        waiting += ((number, child, parent) for child in reversed(children))
    return found


def _found(node: Json, role: str, dom_id: int, parent: int | None, layout: Layout, *, secret: bool) -> Found:
    name, value = str(node.get("name", {}).get("value", "")), node.get("value", {}).get("value")
    for said in node.get("properties", ()):
        if said["name"] in _STATES:
            value = said["value"].get("value")
    text = None if secret or value is None else f"{value:g}" if isinstance(value, float) else str(value)
    name = layout.texts.get(dom_id, name)
    return Found(parent, _ROLES.get(role) or role.lower(), name, text, layout.boxes.get(dom_id))
