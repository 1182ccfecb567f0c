"""Opens the screen of a remote: the VNC driver's errors become those of a remote that can't be had."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from pluriverse_protocol import metadata
from pluriverse_protocol.messages import Describe

from pluriverse.diagnostics import place_of
from pluriverse.errors import RemoteUnavailable
from pluriverse.remotes import Address
from pluriverse.rfb import Region
from pluriverse.rfb.errors import RfbError
from pluriverse.vnc import VncConnection, VncOptions, connect

# The handshake is some round trips; a VNC server that takes longer is frozen or out of reach.
CONNECT_S: Final = 5.0


def open_screen(address: Address, described: Describe | None, options: VncOptions) -> VncConnection:
    """Connect to the screen; blocks. Of a screen of which only regions are wanted, the metadata block is one more.

    Raises:
        RemoteUnavailable: it can't be reached, refuses, or speaks no RFB.
    """
    place = place_of(described.metadata_encoding) if described is not None else None
    if options.regions and place is not None:
        block = Region(place.x, place.y, metadata.WIDTH, metadata.HEIGHT)
        options = replace(options, regions=[*options.regions, block])
    try:
        return connect(address.host, address.vnc_port, address.password, options=options, timeout_s=CONNECT_S)
    except (OSError, RfbError) as error:
        raise RemoteUnavailable(f"the screen at {address.host}:{address.vnc_port} can't be had: {error}") from error
