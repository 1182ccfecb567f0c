import contextlib
import ssl
from pathlib import Path

import pytest
from pluriverse.tls import TlsOptions
from pluriverse_server.certificate import Certificate


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    return Certificate.made(["far.example"])


def shake_hands(options: TlsOptions, certificate: Certificate, host: str = "far.example") -> None:
    received, sent = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = certificate.context.wrap_bio(sent, received, server_side=True)
    client = options.context().wrap_bio(received, sent, server_hostname=host)
    while True:
        try:
            client.do_handshake()
        except ssl.SSLWantReadError:
            with contextlib.suppress(ssl.SSLWantReadError):
                server.do_handshake()
        else:
            return


def test_certificate_that_is_pinned_is_trusted_for_any_name(certificate: Certificate) -> None:
    shake_hands(TlsOptions(fingerprint=certificate.fingerprint), certificate, "other.example")


def test_another_certificate_is_refused_with_both_fingerprints(certificate: Certificate) -> None:
    another = Certificate.made(["far.example"])
    with pytest.raises(ssl.SSLCertVerificationError) as caught:
        shake_hands(TlsOptions(fingerprint=certificate.fingerprint), another)
    assert another.fingerprint in str(caught.value)
    assert certificate.fingerprint in str(caught.value)


def test_certificate_that_nobody_vouches_for_is_refused(certificate: Certificate) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(TlsOptions(), certificate)


@pytest.mark.parametrize("wrong", ["", "ab", "g" * 64, "ab" * 33])
def test_what_is_no_fingerprint_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="64 digits"):
        TlsOptions(fingerprint=wrong)


def test_file_of_authorities_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        TlsOptions(ca_file=tmp_path / "none.pem").context()
