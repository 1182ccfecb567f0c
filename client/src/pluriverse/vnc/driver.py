"""Connections to VNC servers, each served by the native driver where it was built, by Python otherwise."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pluriverse.bell import BELL
from pluriverse.rfb import ServerInit, implementation
from pluriverse.rfb.decoder import ENVIRONMENT_VARIABLE
from pluriverse.rfb.errors import DecoderUnavailable

from .connection import VncConnection
from .opening import open_transport
from .options import VncOptions
from .python_pump import PythonPump
from .transport import Transport

if TYPE_CHECKING:
    from .native_pump import NativePump


def connect(
    host: str,
    port: int,
    password: str | None = None,
    *,
    options: VncOptions | None = None,
    timeout_s: float = 10.0,
) -> VncConnection:
    """Connect to a VNC server and shake hands; blocks for at most ``timeout_s`` seconds.

    Raises:
        OSError: it could not be reached (TimeoutError: not in time), or its TLS can't be trusted.
        RfbError: it is no VNC server, or doesn't let this side in; says why. Or the implementation isn't there.
    """
    options = options or VncOptions()
    native = _is_native(options)
    transport, desktop, leftover = open_transport(host, port, password, options, timeout_s)
    return _pump(native, transport, desktop, leftover, options)


def wait_for_frames(connections: Sequence[VncConnection], timeout_s: float) -> list[int]:
    """Wait until a connection has a frame that ``frame()`` hasn't returned yet; return the indices of all that have.

    Empty: none has within ``timeout_s`` seconds, or all of them are dead.
    """

    def fresh() -> list[int]:
        return [index for index, each in enumerate(connections) if each.fresh]

    BELL.wait_for(lambda: bool(fresh()) or all(each.error is not None for each in connections), timeout_s)
    return fresh()


def _is_native(options: VncOptions) -> bool:
    if options.implementation is None:
        return implementation().startswith("native")
    if options.implementation == "native":
        try:
            importlib.import_module(".native_pump", __package__)
        except ImportError as error:
            raise DecoderUnavailable(
                f"the native driver was asked for, but was not built ({error}); build it with: pip install "
                f"--force-reinstall pluriverse, where a C compiler and the headers of libjpeg-turbo and zlib are, or "
                f"leave the choice open; {ENVIRONMENT_VARIABLE}=python is the other one"
            ) from error
    return options.implementation == "native"


def _pump(
    native: bool, transport: Transport, desktop: ServerInit, leftover: bytes, options: VncOptions
) -> PythonPump | NativePump:
    if not native:
        return PythonPump(transport, desktop, leftover, options)
    from .native_pump import NativePump

    return NativePump(transport, desktop, leftover, options)
