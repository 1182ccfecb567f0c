"""Arguments and options that several commands share beside those of the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pluriverse_server.manifest.draft import DRAFT_VARIABLE
from pluriverse_server.settings import RUNTIME_HELP

RuntimeArgument = Annotated[Path, typer.Argument(help=RUNTIME_HELP, show_default=False)]
EnvArgument = Annotated[
    str | None,
    typer.Argument(help="The environment to begin with; if not given, the runtime's default.", show_default=False),
]
DraftOption = Annotated[
    bool,
    typer.Option(
        "--draft",
        envvar=DRAFT_VARIABLE,
        help="Go on without the sources whose pictures aren't there yet, and without what needs them.",
    ),
]
