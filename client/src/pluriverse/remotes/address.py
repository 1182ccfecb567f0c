"""The addresses of remotes, and their URLs.

* ``vnc://host:5900+15900,host2:5901+15901?password=…``: a port for the screen, one for the rest
* ``pluriverse://host:15900,host2:15900/prefix/?password=…``: one port for all
* ``pluriverses://host:15900/prefix/?fingerprint=…&ca=FILE&password=…``: one port, with TLS
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, parse_qs, quote, unquote, urlencode, urlsplit

from pluriverse.endpoint import Endpoint
from pluriverse.errors import ConfigurationError
from pluriverse.tls import TlsOptions

VNC_PORT: Final = 5900
REWARDER_PORT: Final = 15900

# Of the passwords that engines make: too long to be guessed, so that a remote takes them beside those who guess.
PASSWORD_CHARS: Final = 24

# In the place of a password.
HIDDEN: Final = "***"

TWO_PORTS: Final = "vnc"
ONE_PORT: Final = "pluriverse"
ONE_PORT_TLS: Final = "pluriverses"
SCHEMES: Final = (TWO_PORTS, ONE_PORT, ONE_PORT_TLS)

_EXPECTED: Final = (
    "expected vnc://HOST:VNC_PORT+REWARDER_PORT[,HOST2:…][?password=…], pluriverse://HOST[:PORT][,HOST2…][/PREFIX/]"
    "[?password=…], or pluriverses://… with TLS, which also takes ?fingerprint=SHA256 or ?ca=FILE"
)
_OPTIONS: Final = {
    TWO_PORTS: {"password"},
    ONE_PORT: {"password"},
    ONE_PORT_TLS: {"password", "fingerprint", "ca"},
}
# As RFC 3986 has paths.
_PATH: Final = re.compile(r"(?:/[\w.~%!$&'()*+,;=:@-]*)+", re.ASCII)
_PLACE: Final = re.compile(
    r"(?:(?P<password>[^@]*)@)?(?P<host>\[[0-9A-Fa-f:.%]+\]|[^\[\]:+@]+)(?::(?P<first>\d+))?(?:\+(?P<second>\d+))?"
)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a remote is, and the password of its ports; None where there is none.

    ``vnc_port`` None: its screen comes by the rewarder port, too. ``tls`` None: clear text; the VNC port has no other.
    ``path``: what an ingress puts before the rewarder port's paths, beginning and ending with a slash.
    """

    host: str
    vnc_port: int | None = VNC_PORT
    rewarder_port: int = REWARDER_PORT
    password: str | None = field(default=None, repr=False)
    path: str = "/"
    tls: TlsOptions | None = None

    def __post_init__(self) -> None:
        if self.tls is not None and self.vnc_port is not None:
            raise ValueError(
                f"the VNC port {self.vnc_port} has no TLS: use the rewarder port, which serves the screen too"
            )

    def __str__(self) -> str:
        if self.vnc_port is None:
            return str(self.endpoint)
        return f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.vnc_port}+{self.rewarder_port}"

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(self.host, self.rewarder_port, self.password, self.path, self.tls)

    @property
    def screen_name(self) -> str:
        return str(self.endpoint) if self.vnc_port is None else f"{self.host}:{self.vnc_port}"

    @property
    def url(self) -> str:
        if self.vnc_port is not None:
            return f"{TWO_PORTS}://{self}"
        if self.tls is None:
            return f"{ONE_PORT}://{self.endpoint.authority}{self.path}"
        options = {"fingerprint": self.tls.fingerprint, "ca": self.tls.ca_file}
        query = urlencode({name: str(value) for name, value in options.items() if value is not None})
        return f"{ONE_PORT_TLS}://{self.endpoint.authority}{self.path}{query and '?' + query}"

    @property
    def viewer_url(self) -> str:
        """The page of its browser viewer, without the password."""
        return self.endpoint.url("http", "/viewer/")


def hide_password(output: str, password: str | None) -> str:
    """Return a remote's greeting without its password."""
    if not password:
        return output
    return output.replace(password, HIDDEN).replace(quote(password, safe=""), HIDDEN)


def parse_addresses(url: str, default_password: str | None = None) -> list[Address]:
    """Return the remotes that ``url`` names, each with its own password where it has one (``vnc://secret@host``).

    ``fingerprint`` is of all hosts, or is given once for each, in their order.
    """
    try:
        parts = urlsplit(url)
        query = parse_qs(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError as error:
        raise ConfigurationError(f"remotes {_hidden(url)} can't be read ({error}); {_EXPECTED}") from None
    path = parts.path or "/"
    is_path = path == "/" if parts.scheme == TWO_PORTS else _PATH.fullmatch(path)
    if not parts.netloc or not is_path or parts.scheme not in SCHEMES or set(query) - _OPTIONS[parts.scheme]:
        raise ConfigurationError(f"remotes {_hidden(url)} can't be read; {_EXPECTED}")
    password = query.get("password", [default_password])[-1] or None
    places = [place.strip() for place in parts.netloc.split(",")]
    path = path if path.endswith("/") else path + "/"
    trusted = _trusted(query, len(places)) if parts.scheme == ONE_PORT_TLS else [None] * len(places)
    return [_parse_place(parts, place, password, path, tls) for place, tls in zip(places, trusted, strict=True)]


def _trusted(query: dict[str, list[str]], count: int) -> list[TlsOptions]:
    ca_file = query.get("ca", [""])[-1]
    fingerprints = query.get("fingerprint", [""])
    if len(fingerprints) not in (1, count):
        raise ConfigurationError(
            f"there are {len(fingerprints)} fingerprints for {count} remotes; expected 1 or {count}"
        )
    try:
        options = [TlsOptions(Path(ca_file) if ca_file else None, each or None) for each in fingerprints]
    except ValueError as error:
        raise ConfigurationError(str(error)) from None
    return options if len(options) == count else options * count


def _parse_place(
    parts: SplitResult, place: str, default_password: str | None, path: str, tls: TlsOptions | None
) -> Address:
    match = _PLACE.fullmatch(place)
    two_ports = parts.scheme == TWO_PORTS
    if match is None or (match["second"] is not None and not two_ports):
        raise ConfigurationError(f"remote {place.rpartition('@')[2]!r} can't be read; {_EXPECTED}")
    vnc_port = int(match["first"] or VNC_PORT) if two_ports else None
    rewarder_port = int((match["second"] if two_ports else match["first"]) or REWARDER_PORT)
    for port in (vnc_port, rewarder_port):
        if port is not None and not 0 < port < 2**16:
            raise ConfigurationError(f"remote {match['host']!r} has port {port}; expected 1 to 65535")
    own = unquote(match["password"]) if match["password"] else None
    return Address(match["host"].strip("[]"), vnc_port, rewarder_port, own or default_password, path, tls)


def _hidden(url: str) -> str:
    """Return the URL for messages, without passwords."""
    return repr(re.sub(r"[^/,@]*@", "", url.partition("?")[0]))
