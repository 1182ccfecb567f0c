"""What an ``Authorization`` header gives: HTTP Basic as old agents send it, or a bearer token. Pure."""

from __future__ import annotations

import base64
import binascii


def secrets_of(header: str) -> tuple[bytes, ...]:
    """Return the secrets in an ``Authorization`` header, each of which may be the right one.

    Of ``Basic`` the username, where old agents have the password, and the password; of ``Bearer`` the token.
    """
    scheme, _, credentials = header.strip().partition(" ")
    match scheme.lower():
        case "bearer":
            return (credentials.strip().encode(errors="surrogatepass"),)
        case "basic":
            try:
                decoded = base64.b64decode(credentials.strip(), validate=True)
            except (binascii.Error, ValueError):
                return ()
            username, _, password = decoded.partition(b":")
            return username, password
        case _:
            return ()
