"""Write the generated parts of the documentation (``make docs``); ``--check`` only says which are out of date.

The protocol's tables come from the protocol package, the architecture's floors from the import contracts, the README's
table of runtimes from the runtimes.
"""

from __future__ import annotations

import asyncio
import re
import sys
from functools import cache
from pathlib import Path
from typing import Final

import floors
from pluriverse_server.manifest.runtime import Manifest, load
from pluriverse_server.programs.catalogue import load_catalogue
from protocol_tables import fill

ROOT: Final = Path(__file__).parent.parent
PROTOCOL: Final = ROOT / "docs/protocol.md"
ARCHITECTURE: Final = ROOT / "docs/architecture.md"
README: Final = ROOT / "README.md"

BEGIN: Final = "<!-- begin runtimes -->\n"
END: Final = "<!-- end runtimes -->"


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


def fill_readme(text: str) -> str:
    """Return the README with its table of runtimes made anew."""
    return re.sub(f"(?s)({BEGIN}).*?({END})", lambda match: match[1] + runtimes() + match[2], text)


def main() -> int:
    """Write what has changed; with ``--check`` 1 if something would."""
    old: list[Path] = []
    for document, filled in (
        (PROTOCOL, fill),
        (ARCHITECTURE, floors.fill),
        (README, fill_readme),
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
