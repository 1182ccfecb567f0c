"""XInput 2 raw events: all keys and buttons of a display, whatever has the focus or a grab."""

from __future__ import annotations

from struct import Struct
from typing import Any, Final, cast

from Xlib.display import Display
from Xlib.ext import xinput

from .connection import DisplayLost

# XI 2.2 hands raw events to everyone; 2.0, which python-xlib would ask for, keeps them from all but a grab's owner.
XI_VERSION: Final = (2, 2)

# A flag of events: the key is held.
KEY_REPEAT: Final = 1 << 16

# Device, time, detail, source, the length of the valuators' mask in 32-bit words, flags.
RAW_EVENT: Final = Struct("=HIIHHI4x")


def select_raw_events(connection: Display, mask: int) -> int:
    """Ask for the raw events of all devices; returns the ``extension`` of such a generic event."""
    name = connection.get_display_name()
    server = cast("Any", connection)
    if not server.has_extension(xinput.extname):
        raise DisplayLost(f"the X server at {name} lacks XInput; use Xvfb or Xtigervnc")
    opcode: int = server.display.get_extension_major(xinput.extname)
    major, minor = XI_VERSION
    # The server answers with the lower of its version and ours.
    version = xinput.XIQueryVersion(display=server.display, opcode=opcode, major_version=major, minor_version=minor)
    if (version.major_version, version.minor_version) < XI_VERSION:
        raise DisplayLost(
            f"the X server at {name} has XInput {version.major_version}.{version.minor_version}, needed is 2.2; "
            f"use Xvfb or Xtigervnc"
        )
    server.screen().root.xinput_select_events([(xinput.AllMasterDevices, mask)])
    return opcode
