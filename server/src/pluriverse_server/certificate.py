"""The certificate that the rewarder port shows with TLS: made at the start, or of files that may change."""

from __future__ import annotations

import asyncio
import contextlib
import datetime as dt
import hashlib
import ipaddress
import logging
import os
import re
import socket
import ssl
from collections.abc import Collection
from pathlib import Path
from typing import Final

log = logging.getLogger(__name__)

# How often the files are checked. Certificates are renewed days before the old one ends.
LOOK_EVERY_S: Final = 2.0

# One that is made at the start lasts as long as any remote runs; who pins it doesn't look at its dates.
LASTS: Final = dt.timedelta(days=3650)
# Clocks of other machines may be late.
BACKDATED: Final = dt.timedelta(days=1)

_FIRST: Final = re.compile(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)


class CertificateError(Exception):
    """A certificate or its key can't be used; the message gives the reason."""


class Certificate:
    """What TLS is spoken with. ``context`` shows the certificate whose SHA-256, in hexadecimal, is ``fingerprint``."""

    def __init__(self, certificate: Path, key: Path) -> None:
        """Read the files (PEM), the certificate with those of its authorities behind it."""
        self._files = certificate, key
        self._seen = self._signature()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.fingerprint = _load(self.context, certificate, key)

    @classmethod
    def made(cls, names: Collection[str]) -> Certificate:
        """Make a key, and a certificate for these hosts and addresses that it signs itself; on no disk."""
        # It takes longer to import than to use, and only here.
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec
        from cryptography.x509.oid import NameOID

        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "pluriverse remote")])
        now = dt.datetime.now(dt.UTC)
        alternatives = [_alternative(name) for name in dict.fromkeys((*names, socket.gethostname(), "localhost"))]
        alternatives += [x509.IPAddress(ipaddress.ip_address(address)) for address in ("127.0.0.1", "::1")]
        signed = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - BACKDATED)
            .not_valid_after(now + LASTS)
            .add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .sign(key, hashes.SHA256())
        )
        pem = serialization.Encoding.PEM
        # OpenSSL reads files only.
        descriptor = os.memfd_create("certificate")
        try:
            os.write(descriptor, signed.public_bytes(pem))
            os.write(
                descriptor, key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
            )
            path = Path(f"/proc/self/fd/{descriptor}")
            return cls(path, path)
        finally:
            os.close(descriptor)

    async def follow(self) -> None:
        """Reload the files whenever they change, until cancelled. Invalid ones are logged."""
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            now = self._signature()
            if now == self._seen:
                continue
            self._seen = now
            try:
                # Not at once into the context that is in use: a key of another certificate would spoil it.
                _load(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), *self._files)
                self.fingerprint = _load(self.context, *self._files)
            except CertificateError as error:
                log.warning("TLS keeps the old certificate; the new one can't be used: %s", error)
            else:
                log.info("TLS uses a new certificate, SHA-256 %s", self.fingerprint)

    def _signature(self) -> list[tuple[int, int, int]]:
        with contextlib.suppress(OSError):
            found = [path.stat() for path in self._files]
            return [(each.st_mtime_ns, each.st_size, each.st_ino) for each in found]
        return []


def _alternative(name: str):
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _load(context: ssl.SSLContext, certificate: Path, key: Path) -> str:
    try:
        first = _FIRST.search(certificate.read_bytes())
        if first is None:
            raise CertificateError("no certificate found; expected PEM, with -----BEGIN CERTIFICATE-----")
        # A key with a passphrase would ask the terminal.
        context.load_cert_chain(certificate, key, password=b"")
    except ssl.SSLError as error:
        raise CertificateError(f"key and certificate don't match, or are invalid: {error}") from error
    except OSError as error:
        raise CertificateError(f"{certificate} or {key} can't be read: {error.strerror}") from error
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(first[0].decode())).hexdigest()
