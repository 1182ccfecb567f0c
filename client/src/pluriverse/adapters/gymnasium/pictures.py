"""What people see of an environment that an agent plays."""

from __future__ import annotations

from typing import Final

import numpy as np

from pluriverse.adapters.core import Core
from pluriverse.adapters.pictures import PictureOptions, Pictures, Pixels
from pluriverse.adapters.player import Phase
from pluriverse.env.views import View, make_view
from pluriverse.errors import ConfigurationError, ResetNeeded

RENDER_MODES: Final = ["human", "rgb_array"]


class Renderer:
    """Renders in one mode; None: not at all."""

    def __init__(self, core: Core, mode: str | None) -> None:
        """``mode`` is of Gymnasium's.

        Raises:
            ConfigurationError: there is no such mode.
        """
        if mode is not None and mode not in RENDER_MODES:
            raise ConfigurationError(f"there is no render mode {mode!r}; expected one of {', '.join(RENDER_MODES)}")
        self._core = core
        self._mode = mode
        # People see colours in full size, whatever the agent is given.
        self._pictures = Pictures(PictureOptions(), core.pictures.box)
        self._view: View | None = None

    def picture(self, index: int) -> Pixels:
        """The last that the agent saw of one environment: uint8 (height, width, 3), RGB, not resized.

        Raises:
            ResetNeeded: it has seen nothing.
        """
        if self._core.phase(index) is Phase.NEW:
            raise ResetNeeded(f"environment {index} has not been reset; call reset() before the first render")
        return np.array(self._pictures.make(self._core.result(index).screen))

    def show(self) -> None:
        """In the mode ``human``, show the first environment; in others, nothing."""
        if self._mode != "human":
            return
        if self._view is None:
            self._view = make_view("human", title=self._core.described.env_id)
        self._view.show(self.picture(0))

    def close(self) -> None:
        """Close the window; may be called repeatedly."""
        if self._view is not None:
            self._view.close()
            self._view = None
