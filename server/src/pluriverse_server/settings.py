"""The settings of a remote, of which options, PLURIVERSE_… variables and the table in the docs are made. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import typer
from pluriverse_protocol.rfb.security import generate_password

from pluriverse_server.access.tokens import Token

RUNTIME_HELP: Final = "The runtime's folder, the one with its runtime.toml."

DisplayBackend = Literal["xvfb", "xvnc"]


class SettingsError(Exception):
    """A setting is wrong; the message says which, and what was expected."""


def _option(help_: str, *names: str, variable: str | None = None, **more: Any) -> Any:
    named = names[0].partition("/")[0].removeprefix("--").replace("-", "_").upper()
    return typer.Option(*names, envvar=f"PLURIVERSE_{variable or named}", help=help_, **more)


HostOption = Annotated[str, _option("The address to listen on; 0.0.0.0 for all of IPv4, :: for all.", "--host")]
VncPortOption = Annotated[int, _option("Where VNC viewers connect.", "--vnc-port")]
RewarderPortOption = Annotated[int, _option("Where agents and browsers connect.", "--rewarder-port")]
PasswordOption = Annotated[
    str | None,
    _option(
        "For both ports (VNC looks at its first 8 characters); generated and printed without it or tokens.",
        "--password",
    ),
]
VerboseOption = Annotated[bool, _option("Log what programs and peers say.", "--verbose", "-v")]


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one remote. Time limits are seconds, 0 for none.

    ``password`` None: there are ``tokens`` alone, which the ``tokens_file`` may change.
    """

    runtime: Annotated[Path, typer.Argument(envvar="PLURIVERSE_RUNTIME", help=RUNTIME_HELP)]
    env_id: Annotated[
        str | None, _option("The environment to begin with; if not given, the runtime's default.", "--env")
    ] = None
    host: HostOption = "127.0.0.1"
    vnc_port: VncPortOption = 5900
    rewarder_port: RewarderPortOption = 15900
    password: PasswordOption = field(default_factory=generate_password, repr=False)
    password_file: Annotated[
        Path | None, _option("A file with the password, read once at the start.", "--password-file")
    ] = None
    tls: Annotated[
        bool,
        _option(
            "Speak TLS on the rewarder port with a certificate made now; prints its fingerprint, opens no VNC port.",
            "--tls",
        ),
    ] = False
    tls_cert: Annotated[
        Path | None,
        _option("The same with this certificate (PEM), which is read anew when it changes.", "--tls-cert"),
    ] = None
    tls_key: Annotated[Path | None, _option("The certificate's key (PEM).", "--tls-key")] = None
    vnc_password: Annotated[
        bool,
        _option(
            "Whether the VNC port asks for the password or a token; without, it lets everybody in as an agent.",
            "--vnc-password/--no-vnc-password",
        ),
    ] = True
    display_backend: Annotated[
        DisplayBackend, _option("xvfb: Xvfb with X0tigervnc. xvnc: Xtigervnc alone.", "--display-backend")
    ] = "xvfb"
    idle_timeout_s: Annotated[
        float, _option("Hang up on an agent silent for so many seconds; 0: never.", "--idle-timeout")
    ] = 0.0
    session_timeout_s: Annotated[
        float, _option("Hang up on an agent after so many seconds; 0: never.", "--session-timeout")
    ] = 0.0
    zoom: Annotated[
        int | None,
        _option("Draw a web page so many times as large, 1 to 8; if not given, as its runtime says.", "--zoom"),
    ] = None
    tokens_file: Annotated[
        Path | None,
        _option(
            "A file with a line ROLE NAME TOKEN for each who may connect, read again when it changes; "
            "the roles are agent, observer, person and operator. PLURIVERSE_TOKENS may have the lines themselves.",
            "--tokens",
            variable="TOKENS_FILE",
            # Typer would ask without the capabilities by which a container's daemon reads it.
            readable=False,
        ),
    ] = None
    tokens: tuple[Token, ...] | None = None
    audit: Annotated[
        Path | None,
        _option(
            "A file that gets a line of JSON for each action that changes something; - for standard error.", "--audit"
        ),
    ] = None
    drain_s: Annotated[
        float,
        _option(
            "For how many seconds the agent's episode may go on after SIGTERM; a second SIGTERM ends it at once.",
            "--drain-s",
        ),
    ] = 0.0
    until_input_ends: Annotated[
        bool,
        _option(
            "End when standard input does: a pipe whose other end is held by whoever wants the remote.",
            "--until-input-ends",
        ),
    ] = False
    status: Annotated[
        bool, _option("Whether a terminal gets the line that is kept up to date.", "--status/--no-status")
    ] = True
    verbose: VerboseOption = False

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
