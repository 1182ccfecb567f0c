"""The options of each environment, as ``options`` of a catalogue entry."""

from __future__ import annotations

from functools import cache
from typing import Any

from . import tables


@cache
def of_atari(rom: str, repeat_action_probability: float) -> dict[str, Any]:
    modes, difficulties = tables.MODES[rom], tables.DIFFICULTIES[rom]
    return {
        "mode": {
            "type": "integer",
            "default": modes[0],
            "choices": sorted(modes),
            "description": "the variant of the game, by ale-py's numbers",
        },
        "difficulty": {
            "type": "integer",
            "default": difficulties[0],
            "choices": sorted(difficulties),
            "description": "the position of the console's difficulty switches",
        },
        "full_action_space": {
            "type": "boolean",
            "default": False,
            "description": "all 18 actions as choices, instead of those that the game makes use of",
        },
        "repeat_action_probability": {
            "type": "number",
            "default": repeat_action_probability,
            "minimum": 0.0,
            "maximum": 1.0,
            "description": "how often the last action is taken instead of the new one",
        },
        "max_pool": {
            "type": "boolean",
            "default": False,
            "description": "each pixel is the brighter of the last two frames', so that nothing flickers",
        },
    }
