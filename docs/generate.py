"""Makes the generated parts of docs/protocol.md anew from the protocol package: ``make docs``."""

from __future__ import annotations

from pathlib import Path

from pluriverse_protocol.docs import fill

DOCUMENT = Path(__file__).with_name("protocol.md")

if __name__ == "__main__":
    DOCUMENT.write_text(fill(DOCUMENT.read_text()))
