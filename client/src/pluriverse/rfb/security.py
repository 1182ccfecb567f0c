"""Which ways in there are, and which of them to take."""

from __future__ import annotations

import enum
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

from . import des
from .errors import AuthenticationFailed, NoCommonSecurity

CHALLENGE_BYTES: Final = 16
# VNC authentication knows no more of a password than a DES key holds.
PASSWORD_BYTES: Final = 8


class SecurityType(enum.IntEnum):
    """The security types that can be used here."""

    NONE = 1
    VNC = 2
    VENCRYPT = 19


# Those of other products, for the message that says what was offered.
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
    """How the server proves who it is when TLS begins."""

    ANONYMOUS = enum.auto()  # not at all: anonymous Diffie-Hellman, which Python's ssl allows as "aNULL:@SECLEVEL=0"
    CERTIFICATE = enum.auto()


@dataclass(frozen=True, slots=True)
class Subtype:
    """A subtype of VeNCrypt: TLS, and then None or VNC authentication inside it."""

    number: int
    tls: Tls
    inner: SecurityType


# The better first: a certificate can be checked, and an anonymous server may be anybody.
SUBTYPES: Final = (
    Subtype(261, Tls.CERTIFICATE, SecurityType.VNC),
    Subtype(260, Tls.CERTIFICATE, SecurityType.NONE),
    Subtype(258, Tls.ANONYMOUS, SecurityType.VNC),
    Subtype(257, Tls.ANONYMOUS, SecurityType.NONE),
)
OTHER_SUBTYPES: Final = {256: "Plain", 259: "TLSPlain", 262: "X509Plain", 263: "TLSSASL", 264: "X509SASL"}


def choose_type(offered: Collection[int], *, password: bool, require_tls: bool) -> SecurityType:
    """The security type to answer with.

    Without ``require_tls`` TLS is used where nothing else can be: it costs both sides time for each frame, and the
    connection can't be handed to the native driver.

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
    """The subtype of VeNCrypt to answer with.

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
    """What VNC authentication wants back for its 16 bytes: DES with the password, whose bits it takes in reverse."""
    key = bytes(
        int(f"{octet:08b}"[::-1], 2) for octet in password.encode()[:PASSWORD_BYTES].ljust(PASSWORD_BYTES, b"\0")
    )
    halves = (challenge[: des.BLOCK_BYTES], challenge[des.BLOCK_BYTES :])
    return b"".join(des.encrypt_block(key, half) for half in halves)


def _names(offered: Collection[int]) -> str:
    known = {**OTHER_TYPES, **{int(kind): kind.name for kind in SecurityType}}
    return ", ".join(f"{number} ({known.get(number, 'unknown')})" for number in offered)
