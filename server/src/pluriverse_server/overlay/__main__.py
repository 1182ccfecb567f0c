"""``python -m pluriverse_server.overlay``; see the package."""

from __future__ import annotations

import argparse
import os
import select
import sys
import time
from typing import Final

from pluriverse_server.kit import PROBE_KEYSYM, NoDisplay, XError

from .block import OverlayBlock
from .key_filter import KeyFilter
from .rules import Combination

# Agents may choose an ordinary key for their probe; in browsers they use the backtick.
BACKTICK: Final = 0x60

STDIN: Final = 0

# Some hundred lines, each of which is written at once and so is read whole.
MAX_READ_BYTES: Final = 4096


def combination(text: str) -> Combination:
    keysym, modifiers = text.split(":")
    return Combination(int(keysym, 0), int(modifiers, 0))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m pluriverse_server.overlay", description=__doc__)
    parser.add_argument("--block", type=int, nargs=2, metavar=("X", "Y"), help="paint the metadata block there")
    parser.add_argument("--qr", type=int, nargs=2, metavar=("X", "Y"), help="and there, as a QR code")
    parser.add_argument("--fps", type=float, default=60.0, help="how often it is painted (default: 60)")
    parser.add_argument("--filter-keys", action="store_true", help="keep a browser's own keys from it")
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
    options = parse_arguments()
    try:
        key_filter = KeyFilter(options.allow, middle_button=options.middle_button) if options.filter_keys else None
        block = None
        if options.block is not None:
            probes = {PROBE_KEYSYM, BACKTICK} if options.filter_keys else {PROBE_KEYSYM}
            x, y = options.block
            block = OverlayBlock(x, y, options.fps, probes, time.monotonic(), qr=options.qr)
            block.attend(time.monotonic(), time.time())
        if options.ready_fd is not None:
            os.write(options.ready_fd, b"\n")
            os.close(options.ready_fd)
        serve(key_filter, block)
    except (NoDisplay, XError) as error:
        sys.exit(f"overlay: {error}")


def serve(key_filter: KeyFilter | None, block: OverlayBlock | None) -> None:
    """Serve whichever of the two there is, for ever; the block at the last rate that was read from standard input."""
    sources: list[KeyFilter | OverlayBlock | int] = [source for source in (key_filter, block) if source is not None]
    if block is not None:
        sources.append(STDIN)
    if key_filter is not None:
        key_filter.attend()  # what came while it was set up is read already, so that select won't report it
    while True:
        timeout_s = block.wait_s(time.monotonic()) if block is not None else None
        readable, _, _ = select.select(sources, [], [], timeout_s)
        if key_filter in readable:
            key_filter.attend()
        if block is not None:
            if STDIN in readable:
                if rates := os.read(STDIN, MAX_READ_BYTES).split():
                    block.pace(float(rates[-1]), time.monotonic())
                else:
                    sources.remove(STDIN)
            block.attend(time.monotonic(), time.time())


if __name__ == "__main__":
    main()
