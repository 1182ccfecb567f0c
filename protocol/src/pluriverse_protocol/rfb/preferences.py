"""Which encodings to ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .numbers import COMPRESS_LEVEL, FINE_QUALITY_LEVEL, QUALITY_LEVEL, SUBSAMPLING, Encoding

NAMES: Final = {
    "tight": Encoding.TIGHT,
    "copyrect": Encoding.COPYRECT,
    "raw": Encoding.RAW,
}
# Extensions that both decoders know; the last three make for less waiting where the server knows them too.
EXTENSIONS: Final = (
    Encoding.DESKTOP_SIZE,
    Encoding.EXTENDED_DESKTOP_SIZE,
    Encoding.CURSOR,
    Encoding.LAST_RECT,
    Encoding.EXTENDED_MOUSE_BUTTONS,
    Encoding.FENCE,
    Encoding.CONTINUOUS_UPDATES,
)
HIGHEST_LEVEL: Final = 9
HIGHEST_FINE_QUALITY: Final = 100


def preferred_encodings(
    *,
    quality: int | None = None,
    fine_quality: int | None = None,
    subsampling: str | None = None,
    compress_level: int | None = None,
    encodings: Sequence[str] = ("tight", "raw"),
) -> list[int]:
    """Return the list for ``messages.set_encodings``.

    ``encodings`` are names out of ``NAMES``, the best first. Tight is without loss unless a quality is given:
    ``quality`` from 0 to 9, or ``fine_quality`` from 0 to 100 with ``subsampling`` out of ``SUBSAMPLING`` (TigerVNC
    and TurboVNC know these two, others go by ``quality``). ``compress_level`` from 0 (quick) to 9 (small).
    A server uses CopyRect whenever it is named: leave it out where only regions are decoded.
    """
    for name in encodings:
        if name not in NAMES:
            raise ValueError(f"unknown encoding {name!r}; known: {', '.join(NAMES)}")
    if subsampling is not None and subsampling not in SUBSAMPLING:
        raise ValueError(f"unknown subsampling {subsampling!r}; known: {', '.join(SUBSAMPLING)}")
    wishes = [
        *_level("quality", quality, HIGHEST_LEVEL, QUALITY_LEVEL),
        *_level("fine_quality", fine_quality, HIGHEST_FINE_QUALITY, FINE_QUALITY_LEVEL),
        *([] if subsampling is None else [SUBSAMPLING[subsampling]]),
        *_level("compress_level", compress_level, HIGHEST_LEVEL, COMPRESS_LEVEL),
    ]
    return [*(int(NAMES[name]) for name in encodings), *map(int, EXTENSIONS), *wishes]


def _level(name: str, level: int | None, highest: int, base: int) -> list[int]:
    if level is None:
        return []
    if not 0 <= level <= highest:
        raise ValueError(f"{name} is {level}, expected 0 to {highest}")
    return [base + level]
