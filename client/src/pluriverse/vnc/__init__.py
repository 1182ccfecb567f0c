"""The VNC driver: connections to many screens at once, their frames as arrays, keys and pointer to them."""

from __future__ import annotations

from .connection import Frame, VncConnection
from .driver import connect, wait_for_frames
from .keys import keysym
from .options import TlsOptions, VncOptions

__all__ = ["Frame", "TlsOptions", "VncConnection", "VncOptions", "connect", "keysym", "wait_for_frames"]
