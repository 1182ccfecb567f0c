"""Security types, which of them to choose, and the answer to VNC authentication."""

from __future__ import annotations

import enum
import secrets
import string
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from . import des
from .errors import AuthenticationFailed, NoCommonSecurity

CHALLENGE_BYTES: Final = 16
# VNC authentication uses no more of a password than fits a DES key.
PASSWORD_BYTES: Final = 8


class SecurityType(enum.IntEnum):
    """The security types that are supported."""

    NONE = 1
    VNC = 2
    VENCRYPT = 19


# Those of other products, for the error that lists what was offered.
OTHER_TYPES: Final = {
    5: "RealVNC RA2",
    6: "RealVNC RA2ne",
    13: "RealVNC RA2 with AES-256",
    16: "Tight",
    17: "Ultra",
    18: "TLS",
    20: "SASL",
    22: "xvp",
    30: "Apple Remote Desktop",
    113: "MSLogonII",
    129: "RealVNC RSA-AES",
    130: "RealVNC RSA-AES unencrypted",
}


class Tls(enum.Enum):
    """How the server identifies itself when TLS starts."""

    ANONYMOUS = enum.auto()  # not at all: anonymous Diffie-Hellman
    CERTIFICATE = enum.auto()


@dataclass(frozen=True, slots=True)
class Subtype:
    """A subtype of VeNCrypt: TLS with None or VNC authentication inside."""

    number: int
    tls: Tls
    inner: SecurityType


# The best first: a certificate can be checked, an anonymous server may be anybody.
SUBTYPES: Final = (
    Subtype(261, Tls.CERTIFICATE, SecurityType.VNC),
    Subtype(260, Tls.CERTIFICATE, SecurityType.NONE),
    Subtype(258, Tls.ANONYMOUS, SecurityType.VNC),
    Subtype(257, Tls.ANONYMOUS, SecurityType.NONE),
)
OTHER_SUBTYPES: Final = {256: "Plain", 259: "TLSPlain", 262: "X509Plain", 263: "TLSSASL", 264: "X509SASL"}


def choose_type(offered: Collection[int], *, password: bool, require_tls: bool) -> SecurityType:
    """Return the security type to answer with.

    Without ``require_tls`` TLS is the last choice: it costs both sides time for each frame.

    Raises:
        NoCommonSecurity: none will do.
        AuthenticationFailed: only a password would do, and there is none.
    """
    plain = (SecurityType.VNC, SecurityType.NONE) if password else (SecurityType.NONE,)
    for kind in (SecurityType.VENCRYPT,) if require_tls else (*plain, SecurityType.VENCRYPT):
        if kind in offered:
            return kind
    if SecurityType.VNC in offered and not require_tls:
        raise AuthenticationFailed("the server wants a password, and none was given")
    wanted = "VeNCrypt, as TLS is required" if require_tls else "None, VNC authentication or VeNCrypt"
    raise NoCommonSecurity(f"the server offers no security type of use here ({wanted}), but {_names(offered)}")


def choose_subtype(offered: Collection[int], *, password: bool) -> Subtype:
    """Return the subtype of VeNCrypt to answer with.

    Raises:
        NoCommonSecurity: none will do.
        AuthenticationFailed: only a password would do, and there is none.
    """
    known = [subtype for subtype in SUBTYPES if subtype.number in offered]
    for subtype in known:
        if password or subtype.inner is SecurityType.NONE:
            return subtype
    if known:
        raise AuthenticationFailed("the server wants a password, and none was given")
    names = ", ".join(f"{number} ({OTHER_SUBTYPES.get(number, 'unknown')})" for number in offered) or "nothing"
    raise NoCommonSecurity(f"the server offers no subtype of VeNCrypt of use here (TLS or X509, None or VNC): {names}")


def answer_challenge(password: str, challenge: bytes) -> bytes:
    """Return VNC authentication's answer to 16 random bytes: DES with the password, each byte's bits reversed."""
    padded = password.encode()[:PASSWORD_BYTES].ljust(PASSWORD_BYTES, b"\0")
    key = bytes(int(f"{octet:08b}"[::-1], 2) for octet in padded)
    halves = (challenge[: des.BLOCK_BYTES], challenge[des.BLOCK_BYTES :])
    return b"".join(des.encrypt_block(key, half) for half in halves)


def _names(offered: Collection[int]) -> str:
    known = {**OTHER_TYPES, **{int(kind): kind.name for kind in SecurityType}}
    return ", ".join(f"{number} ({known.get(number, 'unknown')})" for number in offered)


def generate_password(chars: int = PASSWORD_BYTES) -> str:
    """Return a new random password of letters and digits, by default no longer than VNC looks at it."""
    return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(chars))
