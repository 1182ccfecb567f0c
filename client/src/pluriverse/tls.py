"""TLS of this side: whom a connection trusts."""

from __future__ import annotations

import hashlib
import hmac
import re
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

# What a socket raises that has nothing to read, or takes no more; TLS may have to read before it writes, and back.
WOULD_BLOCK: Final = (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError)

_FINGERPRINT: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class TlsOptions:
    """Whose TLS is trusted: servers with a certificate for their name, signed by one of ``ca_file`` or the system's.

    With a ``fingerprint``, the SHA-256 of a certificate in hexadecimal, with colons or without, the server with just
    that certificate is trusted instead, with any signature and any name.
    """

    ca_file: Path | None = None
    fingerprint: str | None = None

    def __post_init__(self) -> None:
        if self.fingerprint is None:
            return
        digits = self.fingerprint.replace(":", "").lower()
        if not _FINGERPRINT.fullmatch(digits):
            raise ValueError(f"the fingerprint {self.fingerprint!r:.100} isn't a SHA-256 in hexadecimal: 64 digits")
        object.__setattr__(self, "fingerprint", digits)

    def context(self) -> ssl.SSLContext:
        """Return the settings for connections to such a server.

        With them ``SSLError`` is raised before another server is sent a byte.
        """
        if self.fingerprint is None:
            return ssl.create_default_context(cafile=self.ca_file)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        pinned = self.fingerprint

        class PinnedSocket(ssl.SSLSocket):
            def do_handshake(self, block: bool = False) -> None:
                super().do_handshake(block)
                _require(pinned, self.getpeercert(True))

        class PinnedObject(ssl.SSLObject):
            def do_handshake(self) -> None:
                super().do_handshake()
                _require(pinned, self.getpeercert(True))

        context.sslsocket_class = PinnedSocket
        context.sslobject_class = PinnedObject
        return context


def fingerprint(certificate: bytes) -> str:
    """Return the SHA-256 of a certificate (DER) in hexadecimal."""
    return hashlib.sha256(certificate).hexdigest()


def _require(pinned: str, certificate: Any) -> None:
    shown = fingerprint(certificate or b"")
    if not hmac.compare_digest(pinned, shown):
        raise ssl.SSLCertVerificationError(
            f"the certificate's fingerprint is {shown}, expected {pinned}: this is another server, or its "
            "certificate has changed; if that is intended, use the fingerprint that it printed at its start"
        )
