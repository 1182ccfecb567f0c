"""The settings of a remote, filled by the command line from options and PLURIVERSE_… variables. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pluriverse_protocol.rfb.security import generate_password

from pluriverse_server.access.tokens import Token

DisplayBackend = Literal["xvfb", "xvnc"]


class SettingsError(Exception):
    """A setting is wrong; the message says which, and what was expected."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one remote. Time limits are seconds, 0 for none. ``zoom``: a page's; None: the runtime's.

    ``password`` None: there are ``tokens`` alone, which a ``tokens_file`` may change. ``audit``: the audit log's file,
    ``-`` for standard error. ``drain_s``: for how long an episode may go on when the remote is to end.
    ``tls``: the rewarder port speaks it, with the certificate of ``tls_cert`` and ``tls_key`` or one made at the start.
    """

    runtime: Path
    env_id: str | None = None
    host: str = "127.0.0.1"
    vnc_port: int = 5900
    rewarder_port: int = 15900
    password: str | None = field(default_factory=generate_password, repr=False)
    vnc_password: bool = True
    display_backend: DisplayBackend = "xvfb"
    idle_timeout_s: float = 0.0
    session_timeout_s: float = 0.0
    zoom: int | None = None
    tokens: tuple[Token, ...] | None = None
    tokens_file: Path | None = None
    audit: Path | None = None
    drain_s: float = 0.0
    tls: bool = False
    tls_cert: Path | None = None
    tls_key: Path | None = None

    def __post_init__(self) -> None:
        for name, port in (("VNC", self.vnc_port), ("rewarder", self.rewarder_port)):
            if not 0 < port < 2**16:
                raise SettingsError(f"the {name} port is {port}, expected 1 to 65535")
        if self.vnc_port == self.rewarder_port:
            raise SettingsError(f"the VNC port and the rewarder port are both {self.vnc_port}, expected two")
        password = self.password
        if password is None and self.tokens is None:
            raise SettingsError("there is neither a password nor a list of tokens; expected one of them")
        if password is not None and not (
            password and password.isascii() and password.isprintable() and ":" not in password
        ):
            raise SettingsError("the password must be printable ASCII without a colon, at least one character")
        if (self.tls_cert is None) != (self.tls_key is None):
            raise SettingsError("TLS needs a certificate and its key: --tls-cert FILE --tls-key FILE; or --tls alone")
        limits = (("idle", self.idle_timeout_s), ("session", self.session_timeout_s), ("drain", self.drain_s))
        for name, seconds in limits:
            if not 0 <= seconds < float("inf"):
                raise SettingsError(f"the {name} time limit is {seconds} s, expected 0 (none) or more")

    @property
    def has_tls(self) -> bool:
        """Whether the rewarder port speaks TLS. The screen is then at its ``/vnc`` alone: there is no VNC port."""
        return self.tls or self.tls_cert is not None

    @property
    def reachable_host(self) -> str:
        """An address of this machine that reaches a server on ``host``."""
        return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
