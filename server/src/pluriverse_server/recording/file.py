"""A recording's file: its records, compressed with zstd as they come, readable up to wherever it was cut."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

import zstandard
from pluriverse_protocol.recordings import Header, Record, RecordingReader, RecordingWriter, TruncatedRecording
from pluriverse_protocol.rfb.geometry import Box

from .keep import RegionKeeper

SUFFIX: Final = ".plrec"

# What is being written has this behind its name until it is whole.
PARTIAL: Final = ".partial"

# 32 MiB: some pictures of a common screen, so that what comes back is found; the second is for files that are kept.
# 128 MiB is what a reader of zstd's allocates without being told to.
WINDOW_LOG: Final = 25
KEPT_WINDOW_LOG: Final = 27

# While recording the program needs the CPU. A file that is kept is fetched often, but somebody waits for it: 19 would
# make it a sixth smaller, and take twenty times as long.
LEVEL: Final = 3
KEPT_LEVEL: Final = 9

# Where the compression is damaged, what has come out of this much before it is lost.
READ_BYTES: Final = 16 * 1024


class RecordingFile:
    """A file that is being recorded into: ``write`` and ``flush``, then ``close``. Blocking.

    Until ``close`` it is called ``path`` with PARTIAL behind it, and so it stays if that is never called.
    """

    def __init__(self, path: Path, header: Header, *, level: int = LEVEL, window_log: int = WINDOW_LOG) -> None:
        """Begin the file.

        Raises:
            OSError: it can't be; FileExistsError: there is one that another recording has left unfinished.
        """
        self.path = path
        self.header = header
        self.partial = partial_path(path)
        self._writer = RecordingWriter(header)
        begin = self._writer.begin()
        # What is left of a recorder that was killed is all that there is of its recording.
        self._file = self.partial.open("xb")
        # It must not close the file by itself, which also the end of a program would do.
        compressor = zstandard.ZstdCompressor(compression_params=_parameters(level, window_log))
        self._stream = compressor.stream_writer(self._file, closefd=False)
        try:
            self._stream.write(begin)
            self.flush()
        except BaseException:
            self.abandon()
            self.partial.unlink(missing_ok=True)
            raise

    def write(self, record: Record) -> None:
        """Add a record.

        Raises:
            LocalProtocolError: it doesn't fit; the file goes on without it.
            OSError: the disk is full, or gone.
        """
        self._stream.write(self._writer.write(record))

    def flush(self) -> None:
        """Hand all that was written to the system, readable.

        Raises:
            OSError: the disk is full, or gone.
        """
        self._stream.flush(zstandard.FLUSH_BLOCK)
        self._file.flush()

    def close(self) -> None:
        """The recording is whole: give the file its name.

        Raises:
            OSError: the disk is full, or gone; what is there keeps the name that it has.
        """
        try:
            self._stream.flush(zstandard.FLUSH_FRAME)
            self._file.flush()
            os.fsync(self._file.fileno())
        finally:
            self._file.close()
        self.partial.replace(self.path)

    def abandon(self) -> None:
        """Write no more; what is there keeps the name that it has."""
        # What the disk had no room for is written again by close, with the same result.
        with contextlib.suppress(OSError):
            self._file.close()


def partial_path(path: Path) -> Path:
    """What a recording is called until it is whole."""
    return path.with_name(path.name + PARTIAL)


def already_there(path: Path) -> Path | None:
    """What there is of a recording that is to be called ``path``: that, or what another has left unfinished."""
    return next((there for there in (path, partial_path(path)) if there.exists()), None)


def open_recording(path: Path) -> tuple[Header, Iterator[Record]]:
    """What was recorded, and its records from the first on, each read when it is asked for.

    After the last record that can be read the iterator raises MalformedRecording if the file is damaged, and
    TruncatedRecording if its end is missing.

    Raises:
        OSError: there is no such file.
        MalformedRecording: it is no recording.
    """
    items = _read(path)
    header = next(items)
    assert isinstance(header, Header)
    return header, cast("Iterator[Record]", items)


def compact(path: Path, regions: Sequence[Box] = ()) -> None:
    """Write a recording anew, compressed as much as can be; one whose end is missing is whole afterwards.

    With ``regions`` keep just these as they are, and the rest seldom and coarse: what was recorded whole, for people to
    label it, gets small enough to be shipped. One of which regions alone were kept already has no others.

    Raises:
        OSError: there is no such file, no room for the new one, or another that is unfinished; it stays as it is.
        MalformedRecording: it is damaged, or no recording; it stays as it is.
    """
    header, records = open_recording(path)
    keeper: RegionKeeper | None = None
    if regions and not header.regions:
        header = replace(header, regions=tuple(regions))
        keeper = RegionKeeper(header.width, header.height, regions)
    compacted = RecordingFile(path, header, level=KEPT_LEVEL, window_log=KEPT_WINDOW_LOG)
    try:
        with contextlib.suppress(TruncatedRecording):
            for record in records:
                for part in [record] if keeper is None else keeper.keep(record):
                    compacted.write(part)
        compacted.close()
    except BaseException:
        compacted.abandon()
        compacted.partial.unlink(missing_ok=True)
        raise


def _parameters(level: int, window_log: int) -> zstandard.ZstdCompressionParameters:
    # Its stubs leave the keywords open.
    make = cast("Any", zstandard.ZstdCompressionParameters).from_level
    return make(level, window_log=window_log, enable_ldm=True, write_checksum=True)


def _read(path: Path) -> Iterator[Header | Record]:
    reader = RecordingReader()
    expander = zstandard.ZstdDecompressor(max_window_size=1 << KEPT_WINDOW_LOG).decompressobj()
    told = False
    with path.open("rb") as file:
        while data := file.read(READ_BYTES):
            try:
                reader.receive(expander.decompress(data))
            except zstandard.ZstdError as error:
                raise reader.damaged(f"{path.name} is no zstd file, or is damaged: {error}") from error
            record = reader.next_record()
            if not told and reader.header is not None:
                told = True
                yield reader.header
            while record is not None:
                yield record
                record = reader.next_record()
            if expander.unused_data:
                raise reader.damaged(f"{path.name} goes on behind its end")
    reader.end(cut=not expander.eof)
