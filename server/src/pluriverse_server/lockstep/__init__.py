"""Lets a program's time pass in steps: it stands still between them, and each time does the same.

``PreloadedClock`` is exact: a library in the program (native/lockstep) gives it its clock, and knows when all of it
waits. What that can't be preloaded into, such as a static program, has a ``FrozenClock``: it stands still, no more.
"""

from .clock import Advance as Advance
from .clock import NoClock as NoClock
from .clock import PreloadedClock as PreloadedClock
from .colours import to_rgb as to_rgb
from .frozen import FrozenClock as FrozenClock
