"""The settings of a remote, filled by the command line from options and PLURIVERSE_… variables. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pluriverse_protocol.rfb.security import generate_password

DisplayBackend = Literal["xvfb", "xvnc"]


class SettingsError(Exception):
    """A setting is wrong; the message says which, and what was expected."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one remote. Time limits are seconds, 0 for none. ``zoom``: a page's; None: the runtime's."""

    runtime: Path
    env_id: str | None = None
    host: str = "127.0.0.1"
    vnc_port: int = 5900
    rewarder_port: int = 15900
    password: str = field(default_factory=generate_password, repr=False)
    vnc_password: bool = True
    display_backend: DisplayBackend = "xvfb"
    idle_timeout_s: float = 0.0
    session_timeout_s: float = 0.0
    zoom: int | None = None

    def __post_init__(self) -> None:
        for name, port in (("VNC", self.vnc_port), ("rewarder", self.rewarder_port)):
            if not 0 < port < 2**16:
                raise SettingsError(f"the {name} port is {port}, expected 1 to 65535")
        if self.vnc_port == self.rewarder_port:
            raise SettingsError(f"the VNC port and the rewarder port are both {self.vnc_port}, expected two")
        if not self.password or not self.password.isascii() or not self.password.isprintable() or ":" in self.password:
            raise SettingsError("the password must be printable ASCII without a colon, at least one character")
        for name, seconds in (("idle", self.idle_timeout_s), ("session", self.session_timeout_s)):
            if not 0 <= seconds < float("inf"):
                raise SettingsError(f"the {name} time limit is {seconds} s, expected 0 (none) or more")

    @property
    def reachable_host(self) -> str:
        """An address of this machine that reaches a server on ``host``."""
        return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
