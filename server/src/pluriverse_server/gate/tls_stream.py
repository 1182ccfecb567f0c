"""The server's end of TLS, without I/O."""

from __future__ import annotations

import contextlib
import ssl
from typing import Final

# What TLS carries in one record, before it is encrypted.
RECORD_BYTES: Final = 16 * 1024


class TlsBroken(Exception):
    """It isn't TLS, or the peer has ended it by an alert."""


class TlsStream:
    """The TLS of one connection. ``to_send`` has something after each ``feed`` and ``wrap``."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self.established = False
        """Whether the handshake is over: before, nothing can be wrapped."""
        self._received, self._to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._received, self._to_send, server_side=True)

    def feed(self, data: bytes) -> bytes:
        """Take in what came; return what was in it.

        Raises:
            TlsBroken: it isn't valid.
        """
        self._received.write(data)
        parts: list[bytes] = []
        try:
            if not self.established:
                self._tls.do_handshake()
                self.established = True
            while part := self._tls.read(max(RECORD_BYTES, self._received.pending)):
                parts.append(part)
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            pass  # the peer sends no more, and then hangs up
        except ssl.SSLError as error:
            raise TlsBroken(error.reason or str(error)) from error
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def wrap(self, data: bytes) -> bytes:
        """Encrypt; return what is to be sent."""
        if data:
            self._tls.write(data)
        return self.to_send()

    def close(self) -> bytes:
        """Return what tells the peer that nothing was cut off."""
        with contextlib.suppress(ssl.SSLError):  # it has not said so itself yet
            self._tls.unwrap()
        return self.to_send()

    def to_send(self) -> bytes:
        """Return what is to be sent."""
        return self._to_send.read()
