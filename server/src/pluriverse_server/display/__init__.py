"""The screen of a remote and the input to it: an X server, a VNC server, and XTEST."""

from __future__ import annotations

from pluriverse_server.x11.connection import DisplayLost

from .initial_state import AsyncInitialState, InitialState
from .injector import AsyncInjector, Injector
from .screen import Backend, Restarted, Screen, ScreenOptions, ServerExit, make_screen

__all__ = [
    "AsyncInitialState",
    "AsyncInjector",
    "Backend",
    "DisplayLost",
    "InitialState",
    "Injector",
    "Restarted",
    "Screen",
    "ScreenOptions",
    "ServerExit",
    "make_screen",
]
