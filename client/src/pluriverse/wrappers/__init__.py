"""Wrappers of environments: ``Throttle(BlockingReset(env))``."""

from .actions import GymCoreAction, SafeActionSpace, SoftmaxClickMouse
from .episodes import EpisodeID, TimeLimit
from .gym_core_sync import GymCoreSync
from .joint import Joint
from .meter import Logger, Timer
from .monitor import Monitor, Render
from .observations import CropObservation, Vision
from .pacing import BlockingReset, Throttle
from .vectorize import Unvectorize, Vectorize

__all__ = [
    "BlockingReset",
    "CropObservation",
    "EpisodeID",
    "GymCoreAction",
    "GymCoreSync",
    "Joint",
    "Logger",
    "Monitor",
    "Render",
    "SafeActionSpace",
    "SoftmaxClickMouse",
    "Throttle",
    "TimeLimit",
    "Timer",
    "Unvectorize",
    "Vectorize",
    "Vision",
]
