"""HTTP Basic authentication with the password in the username field, as old agents send it. Pure."""

from __future__ import annotations

import base64
import binascii
import hmac


def authorized(header: str | None, password: str) -> bool:
    """Whether an ``Authorization`` header carries ``password``, as the username or as the password."""
    if header is None:
        return False
    scheme, _, credentials = header.strip().partition(" ")
    if scheme.lower() != "basic":
        return False
    try:
        decoded = base64.b64decode(credentials.strip(), validate=True)
    except (binascii.Error, ValueError):
        return False
    username, _, secret = decoded.partition(b":")
    # Both are always compared, so that the time taken reveals nothing.
    return matches(username, password) | matches(secret, password)


def matches(given: bytes | str, password: str) -> bool:
    """Whether the two are equal, compared in constant time."""
    return hmac.compare_digest(
        given if isinstance(given, bytes) else given.encode(errors="surrogatepass"), password.encode()
    )
