"""Write the generated parts of the documentation (``make docs``); ``--check`` only says which are out of date.

The protocol's tables come from the protocol package, the architecture's floors from the import contracts, the README's
table of runtimes from the runtimes, that of the settings from the command line.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import floors
import typer
from pluriverse_server.console.cli import app
from pluriverse_server.manifest.runtime import Manifest, load
from pluriverse_server.programs.catalogue import load_catalogue
from protocol_tables import fill

ROOT: Final = Path(__file__).parent.parent
PROTOCOL: Final = ROOT / "docs/protocol.md"
ARCHITECTURE: Final = ROOT / "docs/architecture.md"
README: Final = ROOT / "README.md"
OPERATING: Final = ROOT / "docs/operating.md"


@cache
def catalogues() -> list[tuple[Manifest, list[str]]]:
    """Return every runtime with the ids of its environments."""
    folders = sorted(path.parent for path in ROOT.glob("runtimes/*/runtime.toml"))
    return [(manifest := load(folder), list(asyncio.run(load_catalogue(folder, manifest)))) for folder in folders]


def runtimes() -> str:
    """Return the README's table of runtimes, with the size of each catalogue."""
    rows: list[str] = []
    for manifest, ids in catalogues():
        about = manifest.runtime
        link = f"[{about.id}](runtimes/{about.id}/README.md)"
        stepped = sum("lockstep" in manifest.clocks(env_id) for env_id in ids)
        rows.append(f"| {link} | {about.title} | {len(ids):,} | {stepped:,} | `{about.default_env}` |")
    head = "| runtime | | environments | in lockstep too | begins with |", "| --- | --- | ---: | ---: | --- |"
    return "\n".join((*head, *rows)) + "\n"


def settings() -> str:
    """Return the table of what ``pluriverse-server run`` can be given."""
    rows = ["| option | variable | default | meaning |", "| --- | --- | --- | --- |"]
    command: Any = typer.main.get_command(app)
    for setting in command.commands["run"].params:
        is_option = setting.param_type_name == "option"
        names = ", ".join(f"`{name}`" for name in (*setting.opts, *setting.secondary_opts)) if is_option else "argument"
        default = {"None": "", "False": "off", "True": "on"}.get(str(setting.default), f"`{setting.default}`")
        rows.append(f"| {names} | `{setting.envvar}` | {default} | {setting.help} |")
    return "\n".join(rows) + "\n"


def between(name: str, make: Callable[[], str]) -> Callable[[str], str]:
    """Return what replaces the text between a document's markers ``name``."""
    markers = f"(?s)(<!-- begin {name} -->\n).*?(<!-- end {name} -->)"
    return lambda text: re.sub(markers, lambda match: match[1] + make() + match[2], text)


def main() -> int:
    """Write what has changed; with ``--check`` 1 if something would."""
    old: list[Path] = []
    for document, filled in (
        (PROTOCOL, fill),
        (ARCHITECTURE, floors.fill),
        (README, between("runtimes", runtimes)),
        (OPERATING, between("settings", settings)),
    ):
        text = document.read_text(encoding="utf-8")
        if (new := filled(text)) != text:
            old.append(document)
            if "--check" not in sys.argv:
                document.write_text(new, encoding="utf-8")
    for document in old if "--check" in sys.argv else ():
        sys.stderr.write(f"{document.relative_to(ROOT)} is out of date; run: make docs\n")
    return len(old) if "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
