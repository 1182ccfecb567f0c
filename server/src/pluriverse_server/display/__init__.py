"""The screen of a remote and the input to it: an X server, a VNC server, and XTEST."""

from __future__ import annotations

from pluriverse_server.x11.connection import DisplayLost

from .injector import AsyncInjector, Injector
from .screen import Backend, Death, Healed, Screen, ScreenOptions, make_screen

__all__ = [
    "AsyncInjector",
    "Backend",
    "Death",
    "DisplayLost",
    "Healed",
    "Injector",
    "Screen",
    "ScreenOptions",
    "make_screen",
]
