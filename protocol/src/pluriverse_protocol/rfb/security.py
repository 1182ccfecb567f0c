"""Security types, which of them to choose, and the answer to VNC authentication."""

from __future__ import annotations

import enum
import secrets
import string
from collections.abc import Collection
from typing import Final

from . import des
from .errors import AuthenticationFailed, NoCommonSecurity

CHALLENGE_BYTES: Final = 16
# VNC authentication uses no more of a password than fits a DES key.
PASSWORD_BYTES: Final = 8


class SecurityType(enum.IntEnum):
    NONE = 1
    VNC = 2


# Those of other products, for the error that lists what was offered.
OTHER_TYPES: Final = {
    5: "RealVNC RA2",
    6: "RealVNC RA2ne",
    13: "RealVNC RA2 with AES-256",
    16: "Tight",
    17: "Ultra",
    18: "TLS",
    19: "VeNCrypt",
    20: "SASL",
    22: "xvp",
    30: "Apple Remote Desktop",
    113: "MSLogonII",
    129: "RealVNC RSA-AES",
    130: "RealVNC RSA-AES unencrypted",
}


def choose_type(offered: Collection[int], *, password: bool) -> SecurityType:
    for kind in (SecurityType.VNC, SecurityType.NONE) if password else (SecurityType.NONE,):
        if kind in offered:
            return kind
    if SecurityType.VNC in offered:
        raise AuthenticationFailed("the server needs a password; add ?password=… to the address")
    raise NoCommonSecurity(
        f"the server offers no security type of use here (None or VNC authentication), but {_names(offered)}"
    )


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
