"""The addresses of remotes, and their URLs: ``vnc://host:5900+15900,host2:5901+15901?password=…``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qs, unquote, urlsplit

from pluriverse.errors import ConfigurationError

VNC_PORT: Final = 5900
REWARDER_PORT: Final = 15900
SCHEME: Final = "vnc"

_EXPECTED: Final = "expected vnc://HOST:VNC_PORT+REWARDER_PORT[,HOST2:…][?password=…]"
_PLACE: Final = re.compile(
    r"(?:(?P<password>[^@]*)@)?(?P<host>\[[0-9A-Fa-f:.%]+\]|[^\[\]:+@]+)(?::(?P<vnc>\d+))?(?:\+(?P<rewarder>\d+))?"
)


@dataclass(frozen=True, slots=True)
class Address:
    """One remote's two ports, and the password of both; None where there is none."""

    host: str
    vnc_port: int = VNC_PORT
    rewarder_port: int = REWARDER_PORT
    password: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.vnc_port}+{self.rewarder_port}"

    @property
    def viewer_url(self) -> str:
        """The page of its browser viewer, without the password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.rewarder_port}/viewer/"


def parse_addresses(url: str, default_password: str | None = None) -> list[Address]:
    """Return the remotes that ``url`` names, each with its own password where it has one (``vnc://secret@host``).

    Raises:
        ConfigurationError: it isn't such a URL; says what was expected.
    """
    try:
        parts = urlsplit(url)
        query = parse_qs(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError as error:
        raise ConfigurationError(f"remotes {_hidden(url)} can't be read ({error}); {_EXPECTED}") from None
    if parts.scheme != SCHEME or not parts.netloc or parts.path not in ("", "/") or set(query) - {"password"}:
        raise ConfigurationError(f"remotes {_hidden(url)} can't be read; {_EXPECTED}")
    password = query.get("password", [default_password])[-1] or None
    return [_parse_place(place.strip(), password) for place in parts.netloc.split(",")]


def _parse_place(place: str, password: str | None) -> Address:
    match = _PLACE.fullmatch(place)
    if match is None:
        raise ConfigurationError(f"remote {place.rpartition('@')[2]!r} can't be read; {_EXPECTED}")
    vnc_port, rewarder_port = int(match["vnc"] or VNC_PORT), int(match["rewarder"] or REWARDER_PORT)
    for port in (vnc_port, rewarder_port):
        if not 0 < port < 2**16:
            raise ConfigurationError(f"remote {match['host']!r} has port {port}; expected 1 to 65535")
    own = unquote(match["password"]) if match["password"] else None
    return Address(match["host"].strip("[]"), vnc_port, rewarder_port, own or password)


def _hidden(url: str) -> str:
    """Return the URL for messages, without passwords."""
    return repr(re.sub(r"[^/,@]*@", "", url.partition("?")[0]))
