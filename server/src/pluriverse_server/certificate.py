"""The certificate that both ports show with TLS: made at the start, or of files that are read anew when they change."""

from __future__ import annotations

import asyncio
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

# How often the files are looked at. Whoever renews a certificate does so days before the old one ends.
LOOK_EVERY_S: Final = 2.0

# One that is made at the start lasts as long as any remote runs; who pins it doesn't look at its dates.
LASTS: Final = dt.timedelta(days=3650)
# Clocks of other machines may be late.
BACKDATED: Final = dt.timedelta(days=1)

# A key and a chain have a few kilobytes.
MAX_FILE_BYTES: Final = 1024 * 1024

_FIRST: Final = re.compile(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)


class CertificateError(Exception):
    """A certificate or its key can't be used; says why."""


class Certificate:
    """What TLS is spoken with. ``context`` is of connections that come from now on, ``fingerprint`` of its certificate.

    ``fingerprint`` is the SHA-256 in hexadecimal, by which clients may know it.
    """

    def __init__(self, certificate: bytes, key: bytes, files: tuple[Path, Path] | None = None) -> None:
        """``certificate`` and ``key`` are in PEM, the certificate with those of its authorities behind it.

        Raises:
            CertificateError: they can't be used.
        """
        self._files = files
        self._seen = [] if files is None else _signature(files)
        self.context, self.fingerprint = _load(certificate, key)

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
        return cls(
            signed.public_bytes(pem),
            key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()),
        )

    @classmethod
    def of(cls, certificate: Path, key: Path) -> Certificate:
        """Read the files.

        Raises:
            CertificateError: they can't be used.
        """
        return cls(_read(certificate), _read(key), (certificate, key))

    async def follow(self) -> None:
        """Read the files anew whenever they have changed, until cancelled. Those that can't be used are logged."""
        if self._files is None:
            return
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            now = _signature(self._files)
            if now == self._seen:
                continue
            self._seen = now
            certificate, key = self._files
            try:
                self.context, self.fingerprint = _load(_read(certificate), _read(key))
            except CertificateError as error:
                log.warning("TLS goes on with the certificate of before, as the new one can't be used: %s", error)
            else:
                log.info("TLS has a new certificate, its SHA-256 is %s", self.fingerprint)


def _alternative(name: str):
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _load(certificate: bytes, key: bytes) -> tuple[ssl.SSLContext, str]:
    first = _FIRST.search(certificate)
    if first is None:
        raise CertificateError("there is no certificate in it; expected PEM, which has -----BEGIN CERTIFICATE-----")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # Tickets for a later connection: TigerVNC's viewer waits for ever if what it wants comes right behind one.
    context.num_tickets = 0
    # OpenSSL reads files only, and the key is to be on no disk.
    descriptor = os.memfd_create("certificate")
    try:
        os.write(descriptor, certificate + b"\n" + key)
        # A key with a passphrase would ask the terminal.
        context.load_cert_chain(f"/proc/self/fd/{descriptor}", password=b"")
    except ssl.SSLError as error:
        raise CertificateError(f"key and certificate don't belong together, or aren't valid: {error}") from error
    finally:
        os.close(descriptor)
    return context, hashlib.sha256(ssl.PEM_cert_to_DER_cert(first[0].decode())).hexdigest()


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_FILE_BYTES)
    except OSError as error:
        raise CertificateError(f"{path} can't be read: {error.strerror}") from error


def _signature(files: tuple[Path, Path]) -> list[tuple[int, int, int] | None]:
    """Return what changes when a file does."""
    found: list[tuple[int, int, int] | None] = []
    for path in files:
        try:
            status = path.stat()
        except OSError:
            found.append(None)
        else:
            found.append((status.st_mtime_ns, status.st_size, status.st_ino))
    return found
