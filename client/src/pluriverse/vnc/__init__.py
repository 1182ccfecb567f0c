"""The VNC driver: connections to many screens at once, their frames as arrays, keys and pointer to them."""

from __future__ import annotations

from .connection import Frame, VncConnection
from .driver import connect, connect_web, wait_for_frames
from .keys import keysym
from .options import VncOptions

__all__ = [
    "Frame",
    "VncConnection",
    "VncOptions",
    "connect",
    "connect_web",
    "keysym",
    "wait_for_frames",
]
