"""Shared by the environment and the vector: opening remotes, seeds and rendering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, cast

import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.utils import seeding

from pluriverse import validation
from pluriverse.adapters.backend import Phase
from pluriverse.adapters.core import Core
from pluriverse.adapters.making import make_copies
from pluriverse.adapters.pictures import PictureOptions, Pictures, Pixels
from pluriverse.env.views import Window
from pluriverse.errors import ResetNeeded
from pluriverse.remotes import RemoteManager

RENDER_MODES: Final[list[str]] = ["human", "rgb_array"]

# Seeds of episodes that follow a seeded one; as many as any program's random numbers take.
DRAWN_SEEDS: Final = 2**31


def open_core(
    env_id: str | None,
    remotes: int | str | RemoteManager | None,
    n: int,
    *,
    size: Sequence[int] | None = None,
    grey: bool = False,
    crop: Sequence[int] | None = None,
    **options: Any,
) -> Core:
    """Start or find ``n`` copies of an environment; blocks until they are there.

    Args:
        env_id: such as ``"gym-core.Pong-v3"``; None for whatever the remotes play.
        remotes: as in ``pluriverse.make``; there must be ``n``, in lockstep so many of which each holds as many of the
            environments as the others. None: start ``n``, in lockstep as few as hold them.
        n: how many are wanted.
        size: (height, width) to resize pictures to.
        grey: pictures of one channel.
        crop: (x, y, width, height) in pixels of the screen; None: the part that the environment draws on.
        options: ``clock`` ("realtime" or "lockstep"), ``slots`` (in lockstep, how many environments each remote is to
            hold; None: as many as are needed), ``record`` (a new file, in lockstep), those of ``Core`` (``actions``,
            ``audio``, ``frame_skip``, ``fps``, ``max_episode_steps``), and of ``VectorEnv.configure``
            (``start_timeout_s``, ``vnc``, ``replace_on_crash``, ``action_probes`` …).
    """
    # Lists, where they were read from JSON.
    pictures = PictureOptions(cast("Any", crop), cast("Any", size), grey)
    return make_copies(env_id, validation.integer("num_envs", n, 1), remotes, pictures=pictures, **options)


def spec_of(core: Core, spec: EnvSpec | None) -> EnvSpec | None:
    """Return the spec of a core: registered specs describe environments in real time."""
    return replace(spec, nondeterministic=False) if spec is not None and core.exact else spec


def audio_metadata(core: Core) -> dict[str, Any]:
    """Return what ``metadata`` has of sound that is asked for: its frames a second."""
    return {} if core.audio_shape is None else {"audio_rate": core.described.audio}


def drawn_seed(generator: np.random.Generator | None) -> int | None:
    """Return the seed of the next episode after a seeded one, so that a whole run repeats; None without one."""
    return None if generator is None else int(generator.integers(DRAWN_SEEDS))


def generator_of(seed: int) -> np.random.Generator:
    """Return Gymnasium's random numbers of a seed."""
    return seeding.np_random(validation.seed(seed))[0]


class Renderer:
    """Renders a core's environments."""

    def __init__(self, core: Core) -> None:
        self._core = core
        # People see colours in full size, whatever the agent is given.
        self._pictures = Pictures(PictureOptions(), core.pictures.box)
        self._view: Window | None = None

    def picture(self, index: int) -> Pixels:
        """Return an environment's last picture: uint8 (height, width, 3), RGB, not resized."""
        if self._core.phase(index) is Phase.NEW:
            raise ResetNeeded(f"environment {index} has not been reset; call reset() before the first render")
        return np.array(self._pictures.make(self._core.screen(index)))

    def show(self) -> None:
        """Show the first environment, as the mode ``human`` does."""
        if self._view is None:
            self._view = Window(self._core.described.env_id)
        self._view.show(self.picture(0))

    def close(self) -> None:
        """Close the window; may be called repeatedly."""
        if self._view is not None:
            self._view.close()
            self._view = None
