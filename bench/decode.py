"""CPU for each frame of recorded full-motion content at 1024x768: both decoders, libvncclient, asyncvnc, bare JPEG."""

from __future__ import annotations

import asyncio
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, cast
from zlib import decompressobj

from desktops import HEIGHT, WIDTH
from peers import asyncvnc, peer
from pluriverse.rfb.decoder import Decoder
from pluriverse.rfb.picture import PictureSpec
from pluriverse.rfb.python_decoder import PythonDecoder
from pluriverse_protocol.rfb.raw_updates import raw_update
from report import Effort, Figures, Line, Measurement, Target
from streams import PIXELS, Recorded, photos, sprites
from tiles import tile_file

# What many agents are given of a large screen.
HALF_GREY: Final = PictureSpec(scale=2, grey=True)
GREY: Final = PictureSpec(grey=True)

# As our own driver reads; others read as they do.
RECEIVE_BYTES: Final = 128 * 1024

# Decoders take turns, so that whatever else the machine does meets all of them.
ROUNDS: Final = 7
QUICK_ROUNDS: Final = 3

# Raw pixels are a hundred times as many bytes as Tight, and each frame costs the same.
RAW_FRAMES: Final = 8

NS_PER_MS: Final = 1e6


def run(effort: Effort) -> Figures:
    """Milliseconds of CPU for one full screen, and ratios of them. What can't be had is left out."""
    count, rounds = effort.of(48, 24), effort.of(ROUNDS, QUICK_ROUNDS)
    figures = _measure("photo", photos(count), rounds)
    figures |= _measure("sprite", sprites(count), rounds)
    by_libvnc = ((ours, "libvnc") for ours in ("native", "python", "native_small", "turbo_least"))
    for ours, other in (("native_fed", "turbo"), *by_libvnc):
        if f"photo_{ours}" in figures and f"photo_{other}" in figures:
            figures[f"photo_{ours}_by_{other}"] = figures[f"photo_{ours}"] / figures[f"photo_{other}"]
    return figures


def _measure(content: str, recorded: Recorded, rounds: int) -> Figures:
    """The median of some rounds by decoder."""
    spent: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        tight, raw = Path(folder) / "tight", Path(folder) / "raw"
        tight.write_bytes(recorded.stream)
        raw.write_bytes(_in_raw(recorded))
        tiles = Path(folder) / "tiles"
        tiles.write_bytes(tile_file(recorded.updates))
        ways = _ways(recorded, tight, raw, tiles)
        for _ in range(rounds):
            for name, ms_of in ways.items():
                spent[name].append(ms_of())
    return {f"{content}_{name}": statistics.median(each) for name, each in spent.items()}


def _ways(recorded: Recorded, tight: Path, raw: Path, tiles: Path) -> dict[str, Callable[[], float]]:
    """Return the measurements by name: functions that return milliseconds a frame."""
    ways: dict[str, Callable[[], float]] = {
        "python": lambda: _received_ms(PythonDecoder, recorded, tight),
        "python_small": lambda: _received_ms(PythonDecoder, recorded, tight, HALF_GREY),
    }
    module = asyncvnc()
    if module is not None:
        ways["asyncvnc"] = lambda: _asyncvnc_ms(module, raw)
    native = _native()
    if native is not None:
        ways["native"] = lambda: _received_ms(native, recorded, tight)
        ways["native_grey"] = lambda: _received_ms(native, recorded, tight, GREY)
        ways["native_small"] = lambda: _received_ms(native, recorded, tight, HALF_GREY)
        ways["native_fed"] = lambda: _fed_ms(native, recorded)
    program = peer("libvnc")
    if program is not None:
        ways["libvnc"] = lambda: _libvnc_ms(program, recorded, tight)
    turbo = peer("turbo")
    if turbo is not None and tiles.stat().st_size:
        ways["turbo"] = lambda: _turbo_ms(turbo, recorded, tiles, "rgb")
        ways["turbo_least"] = lambda: _turbo_ms(turbo, recorded, tiles, "grey8")
    return ways


def _native() -> type[Decoder] | None:
    try:
        from pluriverse.rfb._native import NativeDecoder
    except ImportError as error:
        print(f"the native decoder is left out ({error}); build it: tools/setup dev", file=sys.stderr)
        return None
    return cast("type[Decoder]", NativeDecoder)


def _fed_ms(kind: type[Decoder], recorded: Recorded) -> float:
    """A decoder that gets whole updates out of memory."""
    decoder = kind(WIDTH, HEIGHT)
    began = time.thread_time_ns()
    for update in recorded.updates:
        decoder.feed(update)
    spent = time.thread_time_ns() - began
    assert decoder.pixels == recorded.pixels
    return spent / NS_PER_MS / recorded.frames


def _received_ms(kind: type[Decoder], recorded: Recorded, stream: Path, spec: PictureSpec | None = None) -> float:
    """A decoder that reads a socket; what that takes is counted, for libvncclient does it too."""
    decoder, room = kind(WIDTH, HEIGHT, spec=spec), bytearray(RECEIVE_BYTES)
    view = memoryview(room)
    with _played(stream) as source:
        began = time.thread_time_ns()
        while size := source.recv_into(room):
            decoder.feed(view[:size])
        spent = time.thread_time_ns() - began
    assert decoder.pixels == recorded.pixels
    return spent / NS_PER_MS / recorded.frames


def _libvnc_ms(program: Path, recorded: Recorded, stream: Path) -> float:
    with _played(stream) as source:
        command = [program, "replay", str(WIDTH), str(HEIGHT)]
        printed = subprocess.run(command, stdin=source.fileno(), capture_output=True, text=True, check=True).stdout
    updates, spent = map(int, printed.split())
    assert updates == len(recorded.updates), f"libvncclient took in {updates} of {len(recorded.updates)} updates"
    return spent / NS_PER_MS / recorded.frames


def _asyncvnc_ms(module: Any, stream: Path) -> float:
    """It knows no Tight. TigerVNC would send it the same pictures raw."""

    async def receive(source: socket.socket) -> int:
        reader, writer = await asyncio.open_connection(sock=source)
        video = module.Video(reader, writer, decompressobj().decompress, "bench", WIDTH, HEIGHT, "bgra")
        client = module.Client(
            reader, writer, module.Clipboard(writer), module.Keyboard(writer), module.Mouse(writer), video, None
        )
        began = time.thread_time_ns()
        for _ in range(RAW_FRAMES):
            await client.read()
        spent = time.thread_time_ns() - began
        writer.close()
        return spent

    with _played(stream) as source:
        return asyncio.run(receive(source)) / NS_PER_MS / RAW_FRAMES


def _turbo_ms(program: Path, recorded: Recorded, tiles: Path, into: str) -> float:
    """Nothing but libjpeg-turbo, on the tiles of all frames."""
    command = [program, str(WIDTH), str(HEIGHT), into]
    with tiles.open("rb") as file:
        printed = subprocess.run(command, stdin=file, capture_output=True, check=True).stdout
    return int(printed) / NS_PER_MS / recorded.frames


def _in_raw(recorded: Recorded) -> bytes:
    """The first frames once more, in Raw."""
    decoder = PythonDecoder(WIDTH, HEIGHT)
    frames: list[bytes] = []
    for update in recorded.updates[:RAW_FRAMES]:
        decoder.feed(update)
        pixels = bytearray(4 * PIXELS)
        for channel in range(3):
            pixels[channel::4] = decoder.framebuffer[..., 2 - channel].tobytes()
        frames.append(raw_update([((0, 0, WIDTH, HEIGHT), bytes(pixels))]))
    return b"".join(frames)


@contextmanager
def _played(stream: Path) -> Generator[socket.socket]:
    """A socket that all of a file comes out of, written by another process, whose CPU isn't counted."""
    ours, theirs = socket.socketpair()
    with ours, theirs, subprocess.Popen(["cat", str(stream)], stdout=theirs.fileno()) as player:
        theirs.close()
        try:
            yield ours
        finally:
            player.kill()


def _lines(content: str, title: str) -> Sequence[Line]:
    libvnc = (f"{content}_libvnc", "libvncclient")
    return (
        Line(f"{title}, native, with its socket reads", "ms", f"{content}_native", None, *libvnc),
        Line(f"{title}, in Python, with its socket reads", "ms", f"{content}_python", None, *libvnc),
        Line(f"{title}, native", "ms", f"{content}_native", None, f"{content}_asyncvnc", "asyncvnc, which takes Raw"),
        Line(f"{title}, native, into grey", "ms", f"{content}_native_grey", None, f"{content}_native", "in colour"),
        Line(f"{title}, native, into grey of half the size", "ms", f"{content}_native_small", None, *libvnc),
        Line(f"{title}, in Python, into grey of half the size", "ms", f"{content}_python_small", None, *libvnc),
    )


MEASUREMENT: Final = Measurement(
    "decode",
    (
        *_lines("photo", "CPU of a photo-like frame"),
        Line(
            "CPU of a photo-like frame, native, from memory",
            "ms",
            "photo_native_fed",
            None,
            "photo_turbo",
            "bare libjpeg-turbo",
        ),
        Line(
            "CPU of a photo-like frame, native decoder to bare libjpeg-turbo",
            "times",
            "photo_native_fed_by_turbo",
            Target(1.3),
        ),
        Line(
            "CPU of a photo-like frame, native driver to libvncclient", "times", "photo_native_by_libvnc", Target(0.6)
        ),
        Line(
            "CPU of a photo-like frame, driver in Python to libvncclient",
            "times",
            "photo_python_by_libvnc",
            Target(1.2),
        ),
        Line(
            "CPU of a photo-like frame, native driver into grey of half the size to libvncclient's full one",
            "times",
            "photo_native_small_by_libvnc",
            Target(0.4),
        ),
        Line(
            "CPU of a photo-like frame, bare libjpeg-turbo into grey of an eighth to libvncclient's full one",
            "times",
            "photo_turbo_least_by_libvnc",
        ),
        *_lines("sprite", "CPU of a sprite frame"),
    ),
    run,
)
