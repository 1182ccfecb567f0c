"""Options and arguments of commands: those of the settings, and others that several commands share."""

from __future__ import annotations

from dataclasses import fields
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any, Final, get_type_hints

import typer
from pluriverse_protocol.installed import installed_runtimes

from pluriverse_server.manifest.draft import DRAFT_VARIABLE
from pluriverse_server.manifest.runtime import FILE_NAME
from pluriverse_server.settings import Settings

_SETTINGS: Final = {setting.name: setting for setting in fields(Settings) if setting.metadata}


def option(name: str) -> Any:
    """Return the option of a setting, and its variable."""
    given = dict(_SETTINGS[name].metadata)
    names: tuple[str, ...] = given.pop("names")
    variable = "PLURIVERSE_" + (names[0].removeprefix("--") if names else name).replace("-", "_").upper()
    make: Any = typer.Option
    if name == "runtime":
        make = typer.Argument
        given |= {"parser": find_runtime, "metavar": "RUNTIME"}
    return make(*names, **{"envvar": variable, **given})


def find_runtime(word: str) -> Path:
    """Return the folder of a runtime, given as its folder or as the id of an installed package."""
    folder = Path(word)
    return folder if (folder / FILE_NAME).is_file() else installed_runtimes().get(word, folder)


def of_settings() -> Signature:
    """Return the signature of a command that takes each setting which has an option."""
    hints = get_type_hints(Settings)
    # A password is made after the files are read.
    defaults = {"runtime": Parameter.empty, "password": None}
    return Signature(
        [
            Parameter(
                name,
                Parameter.KEYWORD_ONLY,
                default=defaults.get(name, setting.default),
                annotation=Annotated[hints[name], option(name)],
            )
            for name, setting in _SETTINGS.items()
        ]
    )


RuntimeArgument = Annotated[
    Path, typer.Argument(parser=find_runtime, metavar="RUNTIME", help=_SETTINGS["runtime"].metadata["help"])
]
EnvArgument = Annotated[str | None, typer.Argument(help=_SETTINGS["env_id"].metadata["help"])]
HostOption = Annotated[str, option("host")]
VncPortOption = Annotated[int, option("vnc_port")]
RewarderPortOption = Annotated[int, option("rewarder_port")]
PasswordOption = Annotated[str | None, option("password")]
VerboseOption = Annotated[bool, option("verbose")]
DraftOption = Annotated[
    bool,
    typer.Option(
        "--draft",
        envvar=DRAFT_VARIABLE,
        help="Ignore sources whose pictures are missing, and everything that depends on them.",
    ),
]
