"""Which script plays which task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pluriverse.evaluation.agents.agent import Decide

from . import atari, boards, classic, desktop, doom, flash, forms, grids, hex_a_hop, ltris, meteors, minesweeper, wob

SOLVERS: Final[dict[str, Callable[[], Decide]]] = {
    "acrobot": classic.Acrobot,
    "breakout": atari.Breakout,
    "cart-pole": classic.CartPole,
    "chase-circle": lambda: wob.chase_circle,
    "click-button": lambda: forms.click_button,
    "click-checkboxes": lambda: forms.click_checkboxes,
    "click-link": lambda: forms.click_link,
    "click-shades": lambda: wob.click_shades,
    "defend-the-center": doom.DefendTheCenter,
    "doom-basic": lambda: doom.basic,
    "door-key": grids.DoorKey,
    "drag-box": lambda: wob.drag_box,
    "enter-text": lambda: forms.enter_text,
    "find-word": lambda: forms.find_word,
    "go-to-object": grids.GoToObject,
    "health-gathering": lambda: doom.health_gathering,
    "hex-a-hop": hex_a_hop.HexAHop,
    "kaboom": atari.Kaboom,
    "lights": flash.Lights,
    "login-user": lambda: forms.login_user,
    "ltris": ltris.LTris,
    "meteors": meteors.Meteors,
    "minesweeper": minesweeper.Minesweeper,
    "mountain-car": classic.MountainCar,
    "moving-items": lambda: wob.moving_items,
    "pong": atari.Pong,
    "racer": flash.Racer,
    "shooter": flash.Shooter,
    "tiles-2048": boards.Tiles2048,
    "yad-order": desktop.YadOrder,
}
