"""What goes around an environment: ``Throttle(BlockingReset(env))``."""

from .blocking_reset import BlockingReset
from .crop_observation import CropObservation
from .episode_id import EpisodeID
from .gym_core_action import GymCoreAction
from .gym_core_sync import GymCoreSync
from .joint import Joint
from .logger import Logger
from .monitor import Monitor
from .render import Render
from .safe_action_space import SafeActionSpace
from .softmax_click_mouse import SoftmaxClickMouse
from .throttle import Throttle
from .time_limit import TimeLimit
from .timer import Timer
from .vectorize import Unvectorize, Vectorize
from .vision import Vision

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
