"""Scripts for tasks of World of Bits that can be seen without reading; below y 50 is what is to be done."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from pluriverse.adapters.computer import Click, Drag, Move, Wait
from pluriverse.adapters.computer.view import Point
from pluriverse.adapters.pictures import Pixels
from pluriverse_eval.agents import Seen

from .finding import Box, Mask, boxes, centre, coloured

TOP: Final = 50

# Of the moving discs: the middle of their way, how near to it they are too fast, and how long a click may take.
MIDDLE: Final = 80
FAST: Final = 35
GONE_S: Final = 0.2


def below(mask: Mask) -> list[Box]:
    """Return the boxes around things below the instruction."""
    return [(left, top + TOP, right, bottom + TOP) for left, top, right, bottom in boxes(mask[TOP:])]


def whole(box: Box) -> Point:
    """Return the pixel in the middle of a box."""
    x, y = centre(box)
    return round(x), round(y)


def button(picture: Pixels) -> Point | None:
    """Return the middle of the largest button there is."""
    found = below(coloured(picture, (239, 239, 239)))
    return whole(max(found, key=lambda box: (box[2] - box[0]) * (box[3] - box[1]))) if found else None


def drag_box(seen: Seen) -> Any:
    """Drag the red box into the middle of the blue one."""
    small, large = below(coloured(seen.picture, (255, 0, 0), 60)), below(coloured(seen.picture, (0, 0, 255), 60))
    submit = button(seen.picture)
    if not small or not large or submit is None:
        return None
    (x, y), (left, top, *_), (to_left, to_top, *_) = whole(small[0]), small[0], large[0]
    across, down = to_left + 15 - left, to_top + 15 - top
    path = tuple((x + across * part // 8, y + down * part // 8) for part in range(9))
    return [Drag(path), Click(at=submit)]


def chase_circle(seen: Seen) -> Any:
    """Keep the pointer in the middle of the disc."""
    discs = below(coloured(seen.picture, (0, 0, 0), 60))
    return Move(whole(max(discs, key=lambda box: box[2] - box[0]))) if discs else None


def moving_items(seen: Seen) -> Any:
    """Click the disc that is nearest to an edge, and wait until it can be seen to be gone.

    Discs are slow where they come in and go out, and fast in between.
    """
    discs = [whole(box) for box in below(coloured(seen.picture, (0, 0, 0), 60)) if box[2] - box[0] > 20]
    x, y = max(discs, key=lambda at: abs(at[0] - MIDDLE), default=(MIDDLE, 0))
    return [Click(at=(x, y)), Wait(GONE_S)] if abs(x - MIDDLE) > FAST else None


def click_shades(seen: Seen) -> Any:
    """Click all squares in which the colour that is named is the strongest, then the button."""
    if not seen.text:
        return None
    wanted = [name in seen.text.split() for name in ("red", "green", "blue")].index(True)
    picture = seen.picture.astype(np.int16)
    squares = [whole(box) for box in below(np.ptp(picture, axis=-1) > 8)]
    submit = button(seen.picture)
    if submit is None:
        return None
    named = [at for at in squares if int(picture[at[1], at[0]].argmax()) == wanted]
    return [*(Click(at=at) for at in named), Click(at=submit)]
