# ruff: noqa: RUF009 - a setting's field is made, as dataclasses.field makes one
"""The settings of a remote, of which options, PLURIVERSE_… variables and the table in the docs are made. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pluriverse_protocol.rfb.security import generate_password

from pluriverse_server.access.tokens import Token

DisplayBackend = Literal["xvfb", "xvnc"]
Clock = Literal["realtime", "lockstep"]


class SettingsError(Exception):
    """A setting is invalid; the message names it and what was expected."""


def _setting(help_: str, *names: str, **more: Any) -> Any:
    """Return the field of a setting, with its ``default`` and what ``console.options.option`` makes an option of."""
    of_field = {name: more.pop(name) for name in ("default", "default_factory", "repr") if name in more}
    return field(**of_field, metadata={"help": help_, "names": names, **more})


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one remote. Time limits are seconds, 0 for none.

    ``password`` None: there are ``tokens`` alone, which the ``tokens_file`` may change.
    """

    runtime: Path = _setting("The runtime: its folder, which contains runtime.toml, or the id of an installed one.")
    env_id: str | None = _setting("The first environment; by default the runtime's default_env.", "--env", default=None)
    first_clock: Clock = _setting("The clock of the first episode, where the environment has it.", default="realtime")
    host: str = _setting("The address to listen on; 0.0.0.0 for all IPv4 addresses, :: for all.", default="127.0.0.1")
    vnc_port: int = _setting("The port for VNC viewers.", default=5900)
    rewarder_port: int = _setting("The port for agents and browsers.", default=15900)
    password: str | None = _setting(
        "For both ports (VNC uses its first 8 characters); generated and printed if neither it nor tokens are given.",
        default_factory=generate_password,
        repr=False,
    )
    password_file: Path | None = _setting("A file with the password, read once at the start.", default=None)
    tls: bool = _setting(
        "Use TLS on the rewarder port with a new certificate; prints its fingerprint, opens no VNC port.",
        "--tls",
        default=False,
    )
    tls_cert: Path | None = _setting(
        "The same with this certificate (PEM), which is reloaded when it changes.", default=None
    )
    tls_key: Path | None = _setting("The certificate's key (PEM).", default=None)
    vnc_password: bool = _setting(
        "Whether the VNC port requires the password or a token; without, every client is an agent.",
        default=True,
    )
    display_backend: DisplayBackend = _setting("xvfb: Xvfb with X0tigervnc. xvnc: Xtigervnc alone.", default="xvfb")
    zoom: int | None = _setting(
        "Draw a web page N times larger, 1 to 8; by default as set in its runtime.", default=None
    )
    tokens_file: Path | None = _setting(
        "A file with a line ROLE NAME TOKEN per client, reloaded when it changes; "
        "the roles are agent, observer, person and operator. PLURIVERSE_TOKENS may have the lines themselves.",
        "--tokens",
        envvar="PLURIVERSE_TOKENS_FILE",
        # Typer would ask without the capabilities by which a container's daemon reads it.
        readable=False,
        default=None,
    )
    tokens: tuple[Token, ...] | None = None
    audit: Path | None = _setting(
        "A file for the audit log, one line of JSON per action that changes something; - for standard error.",
        default=None,
    )
    drain_s: float = _setting(
        "Seconds that the agent's episode may continue after SIGTERM; a second SIGTERM ends it at once.",
        default=0.0,
    )
    until_input_ends: bool = _setting(
        "End when standard input, a pipe, is closed at its other end.",
        "--until-input-ends",
        default=False,
    )
    status: bool = _setting("Whether to show a status line on a terminal.", default=True)
    verbose: bool = _setting("Log the output of programs and peers.", "--verbose", "-v", default=False)

    def __post_init__(self) -> None:
        for name, port in (("VNC", self.vnc_port), ("rewarder", self.rewarder_port)):
            if not 0 < port < 2**16:
                raise SettingsError(f"the {name} port is {port}, expected 1 to 65535")
        if self.vnc_port == self.rewarder_port:
            raise SettingsError(f"the VNC port and the rewarder port are both {self.vnc_port}, expected two")
        password = self.password
        if password is None and self.tokens is None:
            raise SettingsError("missing password and tokens; expected at least one")
        if password is not None and not (
            password and password.isascii() and password.isprintable() and ":" not in password
        ):
            raise SettingsError("the password must be printable ASCII without a colon, at least one character")
        if (self.tls_cert is None) != (self.tls_key is None):
            raise SettingsError("TLS needs a certificate and its key: --tls-cert FILE --tls-key FILE; or --tls alone")
        if not 0 <= self.drain_s < float("inf"):
            raise SettingsError(f"the drain time limit is {self.drain_s} s, expected 0 (none) or more")

    @property
    def has_tls(self) -> bool:
        """Whether the rewarder port speaks TLS. The screen is then at its ``/vnc`` alone: there is no VNC port."""
        return self.tls or self.tls_cert is not None

    @property
    def reachable_host(self) -> str:
        """An address of this machine that reaches a server on ``host``."""
        return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
