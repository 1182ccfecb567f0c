"""Connections to VNC servers, each served by the native driver where it was built, by Python otherwise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import cast

from pluriverse.bell import BELL
from pluriverse.endpoint import Endpoint
from pluriverse.rfb import Decoder, implementation
from pluriverse.rfb.decoder import ENVIRONMENT_VARIABLE
from pluriverse.rfb.errors import DecoderUnavailable
from pluriverse.rfb.python_decoder import PythonDecoder

from .connection import VncConnection
from .opening import open_connection
from .options import Implementation, VncOptions
from .python_pump import PythonPump


def connect(
    host: str,
    port: int,
    password: str | None = None,
    *,
    options: VncOptions | None = None,
    timeout_s: float = 10.0,
) -> VncConnection:
    """Connect to a VNC server and shake hands; blocks for at most ``timeout_s`` seconds."""
    return _connect(Endpoint(host, port, password), options or VncOptions(), timeout_s, web=False)


def connect_web(endpoint: Endpoint, *, options: VncOptions | None = None, timeout_s: float = 10.0) -> VncConnection:
    """Connect to the screen on a remote's rewarder port, in a WebSocket; else as ``connect``."""
    return _connect(endpoint, options or VncOptions(), timeout_s, web=True)


def wait_for_frames(connections: Sequence[VncConnection], timeout_s: float) -> list[int]:
    """Wait until a connection has a frame that ``frame()`` hasn't returned yet; return the indices of all that have.

    Empty: none has within ``timeout_s`` seconds, or all of them are dead.
    """

    def fresh() -> list[int]:
        return [index for index, each in enumerate(connections) if each.fresh]

    BELL.wait_for(lambda: bool(fresh()) or all(each.error is not None for each in connections), timeout_s)
    return fresh()


def _connect(endpoint: Endpoint, options: VncOptions, timeout_s: float, *, web: bool) -> VncConnection:
    pump = _pump(options.implementation, endpoint)
    return pump(*open_connection(endpoint, options, timeout_s, web=web), options)


def _pump(wish: Implementation | None, endpoint: Endpoint) -> Callable[..., VncConnection]:
    if wish == "python" or (wish is None and not implementation().startswith("native")):
        return partial(PythonPump, PythonDecoder)
    try:
        from pluriverse.rfb._native import NativeDecoder

        from .native_pump import NativePump
    except ImportError as error:
        raise DecoderUnavailable(
            f"the native driver was asked for, but was not built ({error}); build it with: pip install "
            f"--force-reinstall pluriverse, where a C compiler and the headers of libjpeg-turbo and zlib are, or "
            f"leave the choice open; {ENVIRONMENT_VARIABLE}=python is the other one"
        ) from error
    # Its threads read a descriptor, and what Python's TLS has decrypted is behind none.
    return NativePump if endpoint.tls is None else partial(PythonPump, cast("type[Decoder]", NativeDecoder))
