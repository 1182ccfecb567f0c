"""Makes the generated parts of docs/protocol.md and README.md anew (``make docs``); ``--check`` only says what is old.

The protocol's tables come from the protocol package; the README's table of runtimes, and the client's list of their
environments, from the runtimes themselves.
"""

from __future__ import annotations

import asyncio
import re
import sys
from functools import cache
from pathlib import Path
from typing import Final

from pluriverse_protocol.docs import fill
from pluriverse_server.manifest.runtime import Manifest, load
from pluriverse_server.programs.catalogue import load_catalogue

ROOT: Final = Path(__file__).parent.parent
PROTOCOL: Final = ROOT / "docs/protocol.md"
README: Final = ROOT / "README.md"
LISTED: Final = ROOT / "client/src/pluriverse/adapters/listed.txt"

BEGIN: Final = "<!-- begin runtimes -->\n"
END: Final = "<!-- end runtimes -->"


@cache
def catalogues() -> list[tuple[Manifest, list[str]]]:
    """Every runtime here with the ids of its environments."""
    folders = sorted(path.parent for path in ROOT.glob("runtimes/*/runtime.toml"))
    return [(manifest := load(folder), list(asyncio.run(load_catalogue(folder, manifest)))) for folder in folders]


def runtimes() -> str:
    """The README's table of runtimes, each with how many environments its catalogue has."""
    rows: list[str] = []
    for manifest, ids in catalogues():
        about = manifest.runtime
        rows.append(
            f"| [{about.id}](runtimes/{about.id}/README.md) | {about.title} | {len(ids):,} | `{about.default_env}` |"
        )
    return "\n".join(("| runtime | | environments | begins with |", "| --- | --- | ---: | --- |", *rows)) + "\n"


def list_all(_: str) -> str:
    """What the client knows of environments without asking a runtime: an id a line."""
    return "\n".join(sorted(env_id for _, ids in catalogues() for env_id in ids)) + "\n"


def fill_readme(text: str) -> str:
    """The README with its table made anew."""
    return re.sub(f"(?s)({BEGIN}).*?({END})", lambda match: match[1] + runtimes() + match[2], text)


def main() -> int:
    """Write what has changed; with ``--check`` 1 if something would."""
    old: list[Path] = []
    for document, filled in ((PROTOCOL, fill), (README, fill_readme), (LISTED, list_all)):
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
