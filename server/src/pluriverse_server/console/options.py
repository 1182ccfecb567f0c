"""Command-line options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from pluriverse_server.manifest.draft import DRAFT_VARIABLE

RUNTIME_HELP: Final = "The runtime's folder, the one with its runtime.toml."
ENV_HELP: Final = "The environment to begin with; if not given, the runtime's default."

RuntimeArgument = Annotated[Path, typer.Argument(help=RUNTIME_HELP, show_default=False)]
EnvArgument = Annotated[str | None, typer.Argument(help=ENV_HELP, show_default=False)]
HostOption = Annotated[
    str, typer.Option(envvar="PLURIVERSE_HOST", help="The address to listen on; 0.0.0.0 for all of this machine's.")
]
VncPortOption = Annotated[int, typer.Option(envvar="PLURIVERSE_VNC_PORT", help="Where VNC viewers connect.")]
RewarderPortOption = Annotated[
    int, typer.Option(envvar="PLURIVERSE_REWARDER_PORT", help="Where agents and browsers connect.")
]
PasswordOption = Annotated[
    str | None,
    typer.Option(
        envvar="PLURIVERSE_PASSWORD",
        help="For both ports (VNC looks at its first 8 characters); generated and printed without it or tokens.",
        show_default=False,
    ),
]
PasswordFileOption = Annotated[
    Path | None,
    typer.Option(
        envvar="PLURIVERSE_PASSWORD_FILE", help="A file with the password, read once at the start.", show_default=False
    ),
]
TlsOption = Annotated[
    bool,
    typer.Option(
        "--tls",
        envvar="PLURIVERSE_TLS",
        help="Speak TLS on the rewarder port with a certificate made now; prints its fingerprint, opens no VNC port.",
    ),
]
TlsCertOption = Annotated[
    Path | None,
    typer.Option(
        envvar="PLURIVERSE_TLS_CERT",
        help="The same with this certificate (PEM), which is read anew when it changes.",
        show_default=False,
    ),
]
TlsKeyOption = Annotated[
    Path | None, typer.Option(envvar="PLURIVERSE_TLS_KEY", help="The certificate's key (PEM).", show_default=False)
]
DraftOption = Annotated[
    bool,
    typer.Option(
        "--draft",
        envvar=DRAFT_VARIABLE,
        help="Go on without the sources whose pictures aren't there yet, and without what needs them.",
    ),
]
VerboseOption = Annotated[
    bool, typer.Option("--verbose", "-v", envvar="PLURIVERSE_VERBOSE", help="Log what programs and peers say.")
]
