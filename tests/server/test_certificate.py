import asyncio
import contextlib
import logging
import socket
import ssl
import threading
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from pluriverse_server import certificate
from pluriverse_server.certificate import Certificate, CertificateError
from support.certificates import signed
from support.waiting import eventually


def shown(made: Certificate) -> bytes:
    """The certificate (DER) that a client is shown."""
    server, client = socket.socketpair()

    def serve() -> None:
        with made.context.wrap_socket(server, server_side=True) as secured:
            secured.recv(1)

    serving = threading.Thread(target=serve)
    serving.start()
    try:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        with context.wrap_socket(client) as secured:
            return secured.getpeercert(True) or b""
    finally:
        serving.join()


@contextlib.asynccontextmanager
async def followed(files: Certificate, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[None]:
    monkeypatch.setattr(certificate, "LOOK_EVERY_S", 0.02)
    following = asyncio.create_task(files.follow())
    try:
        yield
    finally:
        following.cancel()
        await asyncio.wait({following})


def test_one_that_is_made_is_of_the_host_and_of_this_machine() -> None:
    from cryptography import x509

    made = Certificate.made(("192.0.2.7", "remote.example"))
    (names,) = (
        each.value
        for each in x509.load_der_x509_certificate(shown(made)).extensions
        if isinstance(each.value, x509.SubjectAlternativeName)
    )
    assert {"remote.example", "localhost", socket.gethostname()} <= set(names.get_values_for_type(x509.DNSName))
    assert "192.0.2.7" in map(str, names.get_values_for_type(x509.IPAddress))


def test_fingerprint_is_of_what_clients_are_shown(tmp_path: Path) -> None:
    import hashlib

    for each in (Certificate.made(()), Certificate(*signed(tmp_path, "localhost"))):
        assert each.fingerprint == hashlib.sha256(shown(each)).hexdigest()


async def test_new_files_are_used_from_the_next_connection_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = Certificate(*signed(tmp_path, "localhost"))
    before = files.fingerprint
    async with followed(files, monkeypatch):
        signed(tmp_path, "localhost")
        await eventually(lambda: files.fingerprint != before)
    assert files.fingerprint == Certificate(tmp_path / "certificate.pem", tmp_path / "key.pem").fingerprint


async def test_half_a_file_or_another_ones_key_is_logged_and_the_old_pair_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path, key = signed(tmp_path, "localhost")
    (tmp_path / "other").mkdir()
    other, _ = signed(tmp_path / "other", "localhost")
    files = Certificate(path, key)
    before, context = files.fingerprint, files.context
    whole = other.read_bytes()
    async with followed(files, monkeypatch):
        with caplog.at_level(logging.WARNING):
            for content in (whole[:100], whole, b""):
                caplog.clear()
                path.write_bytes(content)
                await eventually(lambda: caplog.records)
                assert "the old certificate" in caplog.text
            caplog.clear()
            path.unlink()
            await eventually(lambda: "can't be read: No such file" in caplog.text)
        assert (files.fingerprint, files.context) == (before, context)
        # As tools do that replace a file at once.
        (tmp_path / "new").write_bytes(whole)
        (tmp_path / "other" / "key.pem").replace(key)
        (tmp_path / "new").replace(path)
        await eventually(lambda: files.fingerprint != before)


def test_what_is_no_certificate_is_refused_at_the_start(tmp_path: Path) -> None:
    path, key = signed(tmp_path, "localhost")
    with pytest.raises(CertificateError, match="expected PEM"):
        Certificate(key, key)
    with pytest.raises(CertificateError, match="don't match"):
        Certificate(path, path)
    with pytest.raises(CertificateError, match=r"missing or .* can't be read"):
        Certificate(tmp_path / "missing", key)


def test_key_with_a_passphrase_asks_nobody(tmp_path: Path) -> None:
    path, key = signed(tmp_path, "localhost", passphrase=b"secret")
    with pytest.raises(CertificateError, match="don't match"):
        Certificate(path, key)
