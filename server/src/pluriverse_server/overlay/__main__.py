"""``python -m pluriverse_server.overlay``; see the package."""

from __future__ import annotations

import argparse
import os
import select
import sys
import time
from typing import Final

from pluriverse_server.kit import PROBE_KEYSYM, NoDisplay, XError

from .block import BlockWindow
from .guard import KeyGuard
from .rules import Combination

# Agents may choose a key that every keyboard has for a probe; for browsers they always chose the backtick.
BACKTICK: Final = 0x60


def combination(text: str) -> Combination:
    """What an argument says, such as ``0x73:4``.

    Raises:
        ValueError: it isn't two numbers.
    """
    keysym, modifiers = text.split(":")
    return Combination(int(keysym, 0), int(modifiers, 0))


def parse_arguments() -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m pluriverse_server.overlay", description=__doc__)
    parser.add_argument("--block", type=int, nargs=2, metavar=("X", "Y"), help="paint the metadata block there")
    parser.add_argument("--fps", type=float, default=60.0, help="how often it is painted (default: 60)")
    parser.add_argument("--guard", action="store_true", help="keep a browser's own keys from it")
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        type=combination,
        metavar="KEYSYM:MODIFIERS",
        help="let this combination of a keysym and X's modifier bits pass, such as 0x73:4 for Ctrl+S",
    )
    parser.add_argument("--middle-button", action="store_true", help="let the middle mouse button pass")
    parser.add_argument("--ready-fd", type=int, metavar="FD", help="a newline is written there once all is in place")
    return parser.parse_args()


def main() -> None:
    """Run until the X server goes, or somebody ends the process: nothing of it stays."""
    options = parse_arguments()
    try:
        guard = KeyGuard(options.allow, middle_button=options.middle_button) if options.guard else None
        block = None
        if options.block is not None:
            probes = {PROBE_KEYSYM, BACKTICK} if options.guard else {PROBE_KEYSYM}
            x, y = options.block
            block = BlockWindow(x, y, options.fps, probes, time.monotonic())
            block.attend(time.monotonic(), time.time())
        if options.ready_fd is not None:
            os.write(options.ready_fd, b"\n")
            os.close(options.ready_fd)
        serve(guard, block)
    except (NoDisplay, XError) as error:
        sys.exit(f"overlay: {error}")


def serve(guard: KeyGuard | None, block: BlockWindow | None) -> None:
    """Attend to whichever of the two there is, for ever."""
    sources = [source for source in (guard, block) if source is not None]
    if guard is not None:
        guard.attend()  # what came while it was set up is read already, so that select won't report it
    while True:
        timeout_s = block.wait_s(time.monotonic()) if block is not None else None
        readable, _, _ = select.select(sources, [], [], timeout_s)
        if guard in readable:
            guard.attend()
        if block is not None:
            block.attend(time.monotonic(), time.time())


if __name__ == "__main__":
    main()
