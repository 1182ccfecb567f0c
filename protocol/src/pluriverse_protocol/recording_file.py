"""A recording's file: records compressed with zstd as they come, readable up to where it was cut off."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

import zstandard

from .recordings import Header, Record, RecordingReader, RecordingWriter

SUFFIX: Final = ".plrec"

# The suffix of a recording that isn't finished.
PARTIAL: Final = ".partial"

# Readers of zstd allocate 128 MiB by default.
MAX_WINDOW_LOG: Final = 27

# Damaged compression loses what was read with it in one piece of this size, which may become 32 MiB.
READ_BYTES: Final = 1024


class RecordingFile:
    """A file that is being recorded into: ``write`` and ``flush``, then ``close``. Blocking.

    Until ``close`` its name is ``path`` with the suffix PARTIAL.
    """

    def __init__(self, path: Path, header: Header, *, level: int = 3, window_log: int = 0) -> None:
        """``level`` is zstd's; with a ``window_log`` it looks that far back for pictures that come again."""
        self.path = path
        self.header = header
        self.seconds = 0.0
        self.partial = partial_path(path)
        self._writer = RecordingWriter(header)
        begin = self._writer.begin()
        # Never overwrite a partial file: it is all that is left of a recorder that was killed.
        self._file = self.partial.open("xb")
        # closefd: the stream must not close the file by itself, as it would when Python exits.
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
        """Add a record; one from before the last is dated as that."""
        self.seconds = max(self.seconds, record.at)
        self._stream.write(self._writer.write(replace(record, at=self.seconds)))

    @property
    def bytes(self) -> int:
        return self._stream.tell()

    @property
    def closed(self) -> bool:
        return self._file.closed

    def fileno(self) -> int:
        return self._file.fileno()

    def flush(self) -> None:
        """Pass everything written so far to the system, readable; raise OSError if the disk is full, or gone."""
        self._stream.flush(zstandard.FLUSH_BLOCK)
        self._file.flush()

    def close(self) -> None:
        try:
            self._stream.flush(zstandard.FLUSH_FRAME)
            self._file.flush()
            os.fsync(self._file.fileno())
        finally:
            self._file.close()
        self.partial.replace(self.path)

    def abandon(self) -> None:
        # Closing tries once more to write what the disk had no room for, with the same result.
        with contextlib.suppress(OSError):
            self._file.close()


def partial_path(path: Path) -> Path:
    return path.with_name(path.name + PARTIAL)


def already_there(path: Path) -> Path | None:
    """Return the finished or unfinished recording that already occupies ``path``, if any."""
    return next((there for there in (path, partial_path(path)) if there.exists()), None)


def open_recording(path: Path) -> tuple[Header, Iterator[Record]]:
    """Return a recording's header and an iterator that reads its records one by one.

    After the last readable record the iterator raises MalformedRecording if the file is damaged, and TruncatedRecording
    if its end is missing.
    """
    items = _read(path)
    header = next(items)
    assert isinstance(header, Header)
    return header, cast("Iterator[Record]", items)


def _parameters(level: int, window_log: int) -> zstandard.ZstdCompressionParameters:
    # Its stubs leave the keywords open.
    make = cast("Any", zstandard.ZstdCompressionParameters).from_level
    return make(level, window_log=window_log, enable_ldm=window_log > 0, write_checksum=True)


def _read(path: Path) -> Iterator[Header | Record]:
    reader = RecordingReader()
    expander = zstandard.ZstdDecompressor(max_window_size=1 << MAX_WINDOW_LOG).decompressobj()
    header_given = False
    with path.open("rb") as file:
        while data := file.read(READ_BYTES):
            try:
                reader.receive(expander.decompress(data))
            except zstandard.ZstdError as error:
                raise reader.damaged(f"{path.name} isn't a zstd file, or is damaged: {error}") from error
            record = reader.next_record()
            if not header_given and reader.header is not None:
                header_given = True
                yield reader.header
            while record is not None:
                yield record
                record = reader.next_record()
            if expander.unused_data:
                raise reader.damaged(f"{path.name} has data after its end")
    reader.end(cut=not expander.eof)
