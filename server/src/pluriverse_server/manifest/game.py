"""Tables of runtime.toml, or of a game's own file: how a program is started, reset, watched and scored. Pure."""

from __future__ import annotations

import keyword
from typing import Annotated, Any, Final, Literal

from pluriverse_protocol.limits import MAX_PADS, MAX_SLOTS
from pydantic import Field, field_validator, model_validator

from .conditions import names_in
from .page import Expression
from .sources import MAX_SOURCES, AnySource, Coordinate, Region, ScreenSource, TaskSource
from .spaces import Key
from .table import Command, Condition, Conditions, Duration, Name, Table, checked, seconds, spelt

# Enough for the way through a menu; anything longer is a program.
MAX_STEPS: Final = 64

# Beyond this a change of the largest values gives no useful reward.
MAX_SCALE: Final = 1e9

# The window around a label in which recordings are searched for its value.
MAX_DELAY_S: Final = 0.5

# No counter rolls for longer.
MAX_ROLL_S: Final = 10.0

# What rewards may come from beside [sources].
OWN_SOURCES: Final = ("reports", "page")


def _is_free(name: str) -> None:
    if name in OWN_SOURCES or keyword.iskeyword(name):
        raise ValueError("expected another name; this one is reserved in rewards or conditions")


SourceName = Annotated[
    str,
    Field(max_length=64),
    spelt("[a-z][a-z0-9_]*", "a name of lower-case letters, digits and underscores that begins with a letter"),
    checked(_is_free),
]


class Ready(Table):
    """How the program reports that an episode's first frame is on the screen."""

    report: Literal["ready"] = "ready"
    timeout_s: Annotated[float, Field(gt=0, le=600)] = 10.0


class LimitsTable(Table):
    """Limits of a scraped program, whose episode is truncated beyond them: processes; output and files in MiB."""

    processes: Annotated[int, Field(ge=1, le=4096)] = 128
    output_mib: Annotated[int, Field(ge=1, le=65536)] = 256
    home_mib: Annotated[int, Field(ge=1, le=65536)] = 512
    memory_mib: Annotated[int, Field(ge=16, le=1048576)] = 4096


def _has_real_time(clocks: list[str]) -> None:
    if "realtime" not in clocks or len(clocks) > len(set(clocks)):
        raise ValueError("expected each once, and realtime among them: the clock of agents that don't choose one")


Clocks = Annotated[list[Literal["realtime", "lockstep"]], checked(_has_real_time)]


class ProgramTable(Table):
    """How the program is started. A program that reported frames and stops for ``frozen_after_s`` is replaced.

    ``home`` is a folder whose copy is HOME each time a scraped program is started; ``env`` adds to its environment.
    ``network``: whether it may open sockets of the internet, those to this machine included. ``clock``: the kinds of
    time that it can be played in; ``same_addresses``: in lockstep two runs are the same only where addresses are, which
    not every machine allows; HOME then has the same name each time. ``before``: a command that
    is started half a second before it, and runs beside it; nothing of that follows from the seed. ``same_start``: in
    lockstep each episode begins the same, and only what the program draws from then on follows from the seed.
    ``slots``: how many environments it holds in lockstep. ``dbus``: whether it gets a session bus of its own, as
    ``accessibility`` has one. ``pads``: how many gamepads it finds.
    """

    command: Command
    before: Annotated[list[str], Field(min_length=1)] | None = None
    ready: Ready = Ready()
    frozen_after_s: Annotated[float, Field(gt=0, le=600)] = 4.0
    home: Name | None = None
    env: dict[str, str] = {}
    network: bool = False
    clock: Clocks = ["realtime"]
    same_addresses: bool = False
    same_start: bool = False
    slots: Annotated[int, Field(ge=1, le=MAX_SLOTS)] = 1
    dbus: bool = False
    accessibility: bool = False
    pads: Annotated[int, Field(ge=0, le=MAX_PADS)] = 0
    limits: LimitsTable = LimitsTable()


def _is_a_point(place: list[int]) -> None:
    if len(place) != 2:
        raise ValueError("expected [x, y] in pixels")


class Step(Table):
    """One step that leads a program to an episode, and the condition ``until`` which it takes.

    Exactly one of ``keys`` (held together), ``type``, ``click``, ``restore`` (a file of the runtime, copied
    ``to`` a place below HOME); or none of them, to wait. ``every_s``: do it again so often until the condition holds.
    """

    keys: Annotated[list[Key], Field(min_length=1, max_length=8)] | None = None
    type: Annotated[str, Field(min_length=1, max_length=256)] | None = None
    click: Annotated[list[Coordinate], checked(_is_a_point)] | None = None
    button: Annotated[int, Field(ge=1, le=5)] = 1
    restore: Name | None = None
    to: Name | None = None
    until: Condition | None = None
    every_s: Annotated[float, Field(ge=0.02, le=60)] | None = None
    timeout_s: Annotated[float, Field(gt=0, le=600)] = 10.0

    @model_validator(mode="after")
    def _does_one_thing(self) -> Step:
        done = [what for what in (self.keys, self.type, self.click, self.restore) if what is not None]
        if len(done) > 1 or (not done and self.until is None):
            raise ValueError("expected exactly one of keys, type, click and restore; or only until, to wait")
        if (self.restore is None) != (self.to is None):
            raise ValueError("expected restore and to together")
        if self.every_s is not None and self.until is None:
            raise ValueError("expected until with every_s, or it would never end")
        return self


Steps = Annotated[list[Step], Field(max_length=MAX_STEPS)]


class ResetTable(Table):
    """How an episode begins: the program or page is asked for it; it is restarted, or keys lead to it.

    ``steps`` are done for each episode, after ``start``, which is done each time the program was started. ``spares``
    are programs that are kept ready on screens of their own, and swapped in.
    """

    by: Literal["report", "restart", "keys", "page"] = "report"
    start: Steps = []
    steps: Steps = []
    spares: Annotated[int, Field(ge=0, le=4)] = 0

    @model_validator(mode="after")
    def _spares_are_restarted(self) -> ResetTable:
        if self.spares and self.by != "restart":
            raise ValueError('expected by = "restart" with spares')
        return self


class RewardTable(Table):
    """Where reward comes from: the program's reports, a number in the page, or a source by its name.

    ``give``: ``change`` makes each change of the number reward, ``end`` the number itself when it is over, ``event``
    gives 1 each time that it begins to hold (or that a log's line comes), ``second`` 1 for each second that it holds,
    ``submit`` the number itself if the agent has said that it is done.
    All are multiplied by ``scale``, and given only while ``when`` holds. ``begins``: what ``change`` counts from where
    an episode begins without a number to be read; else it counts from the first that is.
    """

    source: Annotated[str, Field(min_length=1, max_length=64)]
    value: Expression | None = None
    give: Literal["change", "end", "event", "second", "submit"] = "change"
    scale: Annotated[float, Field(ge=-MAX_SCALE, le=MAX_SCALE)] = 1.0
    when: Condition | None = None
    begins: float | None = None

    @model_validator(mode="after")
    def _fits_its_source(self) -> RewardTable:
        if (self.source == "page") != (self.value is not None):
            raise ValueError('expected value, a JavaScript expression, with source = "page" and with no other')
        if self.source in OWN_SOURCES and (
            self.give in ("event", "second", "submit") or self.when is not None or self.scale != 1.0
        ):
            raise ValueError(
                'expected give = "change" or "end", no when and no scale, with source = "page" or "reports"'
            )
        if self.begins is not None and (self.source in OWN_SOURCES or self.give != "change"):
            raise ValueError('expected begins only with give = "change" of a source')
        return self


class EpisodeTable(Table):
    """When a scraped program's episode begins and ends. Conditions name sources: ``lives == 0 and not menu``.

    ``ready``: its first frame is there. ``done`` and ``truncated``: it has ended, with the reason as the key, where
    there are several. ``text``: the source that is sent as text. ``observation``: sources sent as one JSON object.
    """

    ready: Condition | None = None
    ready_timeout_s: Annotated[float, Field(gt=0, le=600)] = 30.0
    done: Conditions = {}
    truncated: Conditions = {}
    text: SourceName | None = None
    observation: Annotated[list[SourceName], Field(max_length=MAX_SOURCES)] = []
    picture: Region | None = None

    @field_validator("done", "truncated", mode="before")
    @classmethod
    def _by_reason(cls, said: Any) -> Any:
        return {"": said} if isinstance(said, str) else said


class ScoreTable(Table):
    """How its recordings are scored. ``max_delay``: how much later than it was seen a reward or an end may be given."""

    max_delay: Duration = "0.2 s"

    @field_validator("max_delay")
    @classmethod
    def _is_found(cls, max_delay: str) -> str:
        if not 0 < seconds(max_delay) <= MAX_ROLL_S:
            raise ValueError(f"expected more than 0 s and at most {MAX_ROLL_S:g} s")
        return max_delay

    @property
    def max_delay_s(self) -> float:
        return seconds(self.max_delay)


# Keys of [program] that only scraped programs use.
_OF_SCRAPED_PROGRAMS: Final = frozenset(("home", "dbus", "accessibility", "limits", "pads", "before", "same_start"))


class GameTables(Table):
    program: ProgramTable | None = None
    reset: ResetTable = ResetTable()
    rewards: list[RewardTable] = []
    sources: Annotated[dict[SourceName, AnySource], Field(max_length=MAX_SOURCES)] = {}
    episode: EpisodeTable = EpisodeTable()
    score: ScoreTable = ScoreTable()

    @property
    def task(self) -> TaskSource | None:
        """The task that is to be done in it, if it was made of one."""
        return next((source for source in self.sources.values() if isinstance(source, TaskSource)), None)

    @property
    def without_task(self) -> GameTables:
        """What all tasks of a file have in common that are graded at the same time."""
        tables: dict[str, Any] = {name: getattr(self, name) for name in GameTables.model_fields}
        tables["sources"] = {name: each for name, each in self.sources.items() if not isinstance(each, TaskSource)}
        return GameTables.model_construct(**tables)

    @property
    def scraped(self) -> bool:
        """Whether the program reports nothing itself, so that its sources are read, if there are any."""
        return bool(self.sources) or (self.program is not None and not self.rewards)

    @property
    def may_be_kept(self) -> bool:
        """Whether moments of its program may be kept. One that talks to others, who can't go back, has none."""
        return self.program is not None and not (self.program.accessibility or self.is_heard)

    @property
    def is_heard(self) -> bool:
        """Whether its program is read, and reports rewards of its own as well."""
        return bool(self.sources) and any(reward.source == "reports" for reward in self.rewards)

    @property
    def screen_sources(self) -> dict[str, ScreenSource]:
        return {name: source for name, source in self.sources.items() if isinstance(source, ScreenSource)}

    @property
    def settles_s(self) -> float:
        return max((source.settles_s for source in self.sources.values()), default=0.0)

    @model_validator(mode="after")
    def _delays_are_found(self) -> GameTables:
        # What settles is given later than it was seen to begin, by as much as it rolls.
        if self.score.max_delay_s > MAX_DELAY_S and not self.settles_s:
            raise ValueError(
                f"expected score.max_delay of at most {MAX_DELAY_S:g} s: without a source that settles, what comes "
                "later isn't found at all"
            )
        return self

    @model_validator(mode="after")
    def _sources_are_there(self) -> GameTables:
        if not self.scraped:
            if self.reset.by == "keys" or self.reset.start or self.reset.steps or self.reset.spares:
                raise ValueError('expected [sources] with reset.by = "keys", reset.start, .steps and .spares')
            if self.episode != EpisodeTable():
                raise ValueError("expected [sources] with [episode], whose conditions use their readings")
            if self.program is not None and self.program.model_fields_set & _OF_SCRAPED_PROGRAMS:
                keys = ", ".join(sorted(_OF_SCRAPED_PROGRAMS))
                raise ValueError(f"expected [sources] with these of [program]: {keys}")
            return self
        if self.reset.spares and self.program is not None and any("{seed}" in word for word in self.program.command):
            raise ValueError("expected no {seed} in program.command with reset.spares: they start before it is known")
        if (
            self.program is not None
            and self.program.same_start
            and any("{seed}" in word for word in self.program.command)
        ):
            raise ValueError(
                "expected no {seed} in program.command with program.same_start: each seed has its own start"
            )
        if self.reset.by == "page":
            raise ValueError(
                'expected no [sources] with reset.by = "page": what a page shows is said by an expression of [page], '
                'and earned by rewards of source = "page"'
            )
        leads = ("restart", "keys", "report") if self.is_heard else ("restart", "keys")
        if self.reset.by not in leads and (self.sources or "by" in self.reset.model_fields_set):
            needs = "[sources]" if self.sources else "no [[rewards]]"
            raise ValueError(f'expected reset.by = "restart" or "keys" with {needs}')
        if self.is_heard:
            self._can_be_heard()
        episode, reset = self.episode, self.reset
        wanted = [("rewards", reward.source) for reward in self.rewards if reward.source not in OWN_SOURCES]
        wanted += [("episode.observation", name) for name in episode.observation]
        wanted += [("episode.text", episode.text)] if episode.text is not None else []
        conditions = [("episode.ready", episode.ready), *(("rewards.when", reward.when) for reward in self.rewards)]
        conditions += [("episode.done", text) for text in episode.done.values()]
        conditions += [("episode.truncated", text) for text in episode.truncated.values()]
        conditions += [("reset", step.until) for step in (*reset.start, *reset.steps)]
        wanted += [(key, name) for key, text in conditions if text is not None for name in sorted(names_in(text))]
        for key, name in wanted:
            if name not in self.sources:
                there = ", ".join(self.sources) or "none"
                raise ValueError(f"{key} names the source {name!r}, and there is none; expected one of: {there}")
        return self

    def _can_be_heard(self) -> None:
        if self.reset.spares:
            raise ValueError("expected no reset.spares with rewards of reports: a program is asked for one episode")
        if self.program is not None and "lockstep" in self.program.clock:
            raise ValueError(
                'expected program.clock = ["realtime"] with both [sources] and rewards of reports: in lockstep a '
                "program is either read, or steps itself"
            )
