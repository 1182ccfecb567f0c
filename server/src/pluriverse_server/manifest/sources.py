"""``[sources]`` of runtime.toml: what is read of a program that reports nothing itself. Pure.

Each source has a name, a place where it is read ``from``, and limits of plausible readings; others don't count.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Final, Literal, cast

from pydantic import BeforeValidator, Discriminator, Field, Tag, field_validator, model_validator

from .table import Duration, Name, Pattern, Table, checked, seconds, spelt

# Each is read in every frame.
MAX_SOURCES: Final = 64

# X's own limit of coordinates is 32767; no screen here is larger.
MAX_COORDINATE: Final = 8192

# A score that takes longer to roll up to its value would earn its reward too late to learn from.
MAX_SETTLES_S: Final = 5.0

# As many as anybody would list; each is compared with every pixel of a region.
MAX_COLOURS: Final = 32

# How the number is written in the line that a source reads, and what else may be there.
PLAIN: Final = "{}"
ANYTHING: Final = "*"

Coordinate = Annotated[int, Field(ge=0, le=MAX_COORDINATE)]
Share = Annotated[float, Field(ge=0, le=1)]
Tolerance = Annotated[int, Field(ge=0, le=255)]


def _is_a_colour(colour: str) -> None:
    if not re.fullmatch("#[0-9a-fA-F]{6}", colour):
        raise ValueError("expected a colour as #d02010: red, green, blue, two hexadecimal digits each")


def _are_colours(colours: list[str]) -> None:
    for colour in colours:
        _is_a_colour(colour)

    if len(colours) > MAX_COLOURS:
        raise ValueError(f"expected at most {MAX_COLOURS} colours")


def _is_some_colour(colours: list[str]) -> None:
    if not colours:
        raise ValueError("expected a colour as #d02010, or a list of some")


def _listed(said: Any) -> Any:
    if not isinstance(said, (str, list)):
        raise ValueError("expected a colour as #d02010 in quotes, or a list of some")
    return [said] if isinstance(said, str) else cast("list[Any]", said)


# One colour, or a list of some.
Colours = Annotated[list[str], checked(_are_colours), BeforeValidator(_listed)]


def _has_a_size(region: list[int]) -> None:
    if len(region) != 4 or min(region) < 0 or region[2] < 1 or region[3] < 1 or max(region) > MAX_COORDINATE:
        raise ValueError("expected [x, y, width, height] in pixels")


# A list of four, since TOML has no tuples: x, y, width, height in pixels of the screen.
Region = Annotated[list[int], checked(_has_a_size)]

# With fewer bytes it would be found anywhere.
BytePattern = Annotated[
    str,
    spelt(
        r"([0-9a-fA-F]{2}|\?\?)( ([0-9a-fA-F]{2}|\?\?)){3,255}",
        "4 to 256 bytes as 8b 05 ?? ??: two hexadecimal digits each, ?? for any, with spaces between them",
    ),
]


class Source(Table):
    """A source of readings: when a reading is believed, and how long reading may take.

    A reading counts once ``agree`` cycles in a row have read the same with at least ``confidence``, within ``min`` and
    ``max``, no further than ``max_jump`` from the last that counted, and not against ``monotonic``. With ``settles`` it
    must have stayed the same for that long, and then counts since the change began: of a number that rolls up to its
    next value, only that.
    """

    min: float | None = None
    max: float | None = None
    max_jump: Annotated[float, Field(gt=0)] | None = None
    monotonic: Literal["up", "down"] | None = None
    agree: Annotated[int, Field(ge=1, le=60)] = 2
    confidence: Share = 0.8
    settles: Duration | None = None
    budget_ms: Annotated[float, Field(gt=0, le=10_000)] = 50.0

    @property
    def settles_s(self) -> float:
        return seconds(self.settles) if self.settles is not None else 0.0

    @field_validator("settles")
    @classmethod
    def _settles_soon(cls, settles: str | None) -> str | None:
        if settles is not None and not 0 < seconds(settles) <= MAX_SETTLES_S:
            raise ValueError(f"expected more than 0 s and at most {MAX_SETTLES_S:g} s")
        return settles

    @model_validator(mode="after")
    def _some_value_is_in_range(self) -> Source:
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("expected min to be at most max, or no reading would ever count")
        return self


class ScreenSource(Source):
    from_: Annotated[Literal["screen", "python"], Field(alias="from")]
    region: Region


class NumberSource(ScreenSource):
    """A number in a picture: with the ``glyphs`` that ``pluriverse-server learn`` made, or else by Tesseract.

    ``written``: the whole line that is in the region, with ``{}`` for the number and ``*`` for what may be anything:
    ``Score: {}``, or ``{} - *`` for the first of two.
    """

    read: Literal["number"]
    glyphs: Name | None = None
    written: Name = PLAIN

    @field_validator("written")
    @classmethod
    def _has_one_number(cls, written: str) -> str:
        if written.count(PLAIN) != 1:
            raise ValueError(f"expected a line with one {PLAIN} in it, where the number is: Score: {PLAIN}")
        return written


class TextSource(ScreenSource):
    """A text in a picture, read as numbers are."""

    read: Literal["text"]
    glyphs: Name | None = None

    @model_validator(mode="after")
    def _is_no_number(self) -> TextSource:
        if any(bound is not None for bound in (self.min, self.max, self.max_jump, self.monotonic)):
            raise ValueError('expected no min, max, max_jump or monotonic with a text; for a number read = "number"')
        return self


class TemplateSource(ScreenSource):
    """Whether a picture is on the screen: ``image`` within ``region``, moved by at most ``shift`` pixels each way."""

    read: Literal["template"]
    image: Name
    threshold: Share = 0.9
    shift: Annotated[int, Field(ge=0, le=16)] = 0


class BarSource(ScreenSource):
    """How full a bar is, 0 to 1, from where it begins: full with ``colour``, and ``empty`` beyond; of either, several.

    Without ``empty`` everything else is empty, and without ``colour`` everything else is full. With both, what has
    neither makes the reading unsure.
    """

    read: Literal["bar"]
    colour: Colours = []
    empty: Colours = []
    tolerance: Tolerance = 48
    direction: Literal["right", "left", "up", "down"] = "right"

    @model_validator(mode="after")
    def _has_a_colour(self) -> BarSource:
        if not self.colour and not self.empty:
            raise ValueError("expected colour, of the full part, or empty, of the rest; or both")
        return self


class ColourSource(ScreenSource):
    """The share of a region's pixels, 0 to 1, that have ``colour``, or one of several."""

    read: Literal["colour"]
    colour: Annotated[Colours, checked(_is_some_colour)]
    tolerance: Tolerance = 48


class PythonSource(ScreenSource):
    """What ``read(picture, previous)`` in ``file``, of the runtime's folder, makes of a region."""

    file: Name


class LogSource(Source):
    """Lines that ``pattern`` matches, in ``file`` or in the program's output.

    The value is the group ``value`` of the last match, a number if it is one; without that group, the count of matches.
    """

    from_: Annotated[Literal["log"], Field(alias="from")]
    pattern: Pattern
    file: Name | None = None
    agree: Annotated[int, Field(ge=1, le=60)] = 1


class FileSource(Source):
    """A value in a small file: ``key`` is ``a.b.0`` in JSON, ``section.key`` in INI, ``row.column`` in CSV.

    An INI file without sections has just the ``key``. Rows of CSV count from 0, and from -1 at the end; a column is its
    number, or its name in the first line, which then is no row. Of a text it is all of it, or what ``pattern`` finds.
    Half of an INI or CSV file or of a text parses as well as a whole one, so two readings must ``agree`` by default.
    """

    from_: Annotated[Literal["file"], Field(alias="from")]
    file: Name
    format: Literal["json", "ini", "csv", "text"]
    key: Name | None = None
    pattern: Pattern | None = None
    agree: Annotated[int, Field(ge=1, le=60)] = 1

    @model_validator(mode="before")
    @classmethod
    def _halves_must_agree(cls, table: object) -> object:
        if isinstance(table, dict) and cast("dict[str, Any]", table).get("format") in ("ini", "csv", "text"):
            return {"agree": 2, **cast("dict[str, Any]", table)}
        return cast("object", table)

    @model_validator(mode="after")
    def _key_of_its_format(self) -> FileSource:
        if (self.key is None) != (self.format == "text") or (self.pattern is not None and self.format != "text"):
            raise ValueError('expected key, or with format = "text" a pattern or nothing')
        if self.format == "csv" and not re.fullmatch(r"-?[0-9]{1,9}\..+", self.key or ""):
            raise ValueError("expected key as row.column with CSV, such as 0.score or -1.2")
        return self


class MemorySource(Source):
    """A value in a 64-bit program's memory: at an address, where a module begins, or where a pattern of bytes does.

    ``offset`` is added to that. ``pointers``: there is an address, to which the first is added; there is another, and
    so on; the last leads to the value.
    """

    from_: Annotated[Literal["memory"], Field(alias="from")]
    type: Literal["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64"]
    address: Annotated[int, Field(ge=0, lt=2**64)] | None = None
    module: Name | None = None
    pattern: BytePattern | None = None
    offset: Annotated[int, Field(gt=-(2**47), lt=2**47)] = 0
    pointers: Annotated[list[int], Field(max_length=16)] = []
    process: Name | None = None
    agree: Annotated[int, Field(ge=1, le=60)] = 1

    @model_validator(mode="after")
    def _one_place(self) -> MemorySource:
        if (self.address is not None) + (self.module is not None or self.pattern is not None) != 1:
            raise ValueError("expected address, or module or pattern (or both: the pattern is sought in the module)")
        return self


class AccessibilitySource(Source):
    """The text of a widget, through AT-SPI: the first with ``role`` and a name that ``name`` matches.

    The value is the group ``value`` of ``pattern`` in its text (its name, where it has none), a number if it is one;
    without that group, whether the pattern matches.
    """

    from_: Annotated[Literal["accessibility"], Field(alias="from")]
    role: Name
    name: Pattern = ".*"
    pattern: Pattern = "(?P<value>.*)"
    index: Annotated[int, Field(ge=0, le=1000)] = 0
    agree: Annotated[int, Field(ge=1, le=60)] = 1
    budget_ms: Annotated[float, Field(gt=0, le=10_000)] = 500.0


class ProcessSource(Source):
    """The program's ``exit`` code; nothing while it runs."""

    from_: Annotated[Literal["process"], Field(alias="from")]
    read: Literal["exit"]
    agree: Annotated[int, Field(ge=1, le=60)] = 1


class TaskSource(Source):
    """What the check of a task says, 0 to 1: the class ``name`` in ``file``. Made of a game's ``tasks``."""

    from_: Annotated[Literal["task"], Field(alias="from")] = "task"
    file: Name
    name: Name
    agree: Annotated[int, Field(ge=1, le=60)] = 1
    budget_ms: Annotated[float, Field(gt=0, le=10_000)] = 500.0


_SCREEN_KINDS: Final = ("number", "text", "template", "bar", "colour")
_OTHER_KINDS: Final = ("python", "log", "file", "memory", "accessibility", "process")


def _kind(table: Any) -> str:
    """Return the tag of the class that a table is meant for: ``from``, and for the screen ``read``."""
    if isinstance(table, Source):
        fields = table.model_dump(by_alias=True)
    else:
        fields = cast("dict[str, Any]", table) if isinstance(table, dict) else {}
    where, what = fields.get("from"), fields.get("read")
    return f"{what}" if where == "screen" and what in _SCREEN_KINDS else f"{where}" if where in _OTHER_KINDS else ""


AnySource = Annotated[
    Annotated[NumberSource, Tag("number")]
    | Annotated[TextSource, Tag("text")]
    | Annotated[TemplateSource, Tag("template")]
    | Annotated[BarSource, Tag("bar")]
    | Annotated[ColourSource, Tag("colour")]
    | Annotated[PythonSource, Tag("python")]
    | Annotated[LogSource, Tag("log")]
    | Annotated[FileSource, Tag("file")]
    | Annotated[MemorySource, Tag("memory")]
    | Annotated[AccessibilitySource, Tag("accessibility")]
    | Annotated[ProcessSource, Tag("process")],
    Discriminator(
        _kind,
        custom_error_type="unknown_source",
        custom_error_message='expected from = "screen" with read = "number", "text", "template", "bar" or '
        '"colour"; or from = "python", "log", "file", "memory", "accessibility" or "process"',
    ),
]
KINDS: Final = frozenset((*_SCREEN_KINDS, *_OTHER_KINDS))
