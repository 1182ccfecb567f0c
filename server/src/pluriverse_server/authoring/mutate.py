"""Which wrong rules a runtime's recordings would notice: each rule is changed in turn, and judged again.

Pictures are read once, since rules change nothing in them. What no reading shows, such as another key, is sought in
what was recorded beside: the keys and clicks of the steps and of who played, and how long an episode took to be ready.
"""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from pluriverse_protocol.env_spaces import Choice
from pluriverse_protocol.reports import Done

from pluriverse_server.manifest.conditions import holds
from pluriverse_server.manifest.game import OWN_SOURCES, GameTables, RewardTable
from pluriverse_server.manifest.sources import BarSource, ChangeSource, ColourSource, Source
from pluriverse_server.sources.rules import REPORTS

from .compare import Mark
from .evidence import Evidence, jumps
from .judge import Trial
from .rescrape import Scraped

# More than the delays that are allowed, and less than the window within which rewards and ends are found at all.
LATE_S: Final = 0.4

# Whether a recording notices; or why none can.
Answer = bool | str

# What is changed, in words that follow "your recordings don't test"; and whether a recording notices.
Mutation = tuple[str, Callable[[Evidence], Answer]]

_ON_SPARES: Final = "spares are led on screens of their own"

_SWAPPED: Final[Mapping[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}


@dataclass(frozen=True, slots=True)
class Mutations:
    """Wrong rules in words: those that are noticed, those that aren't, and those that nothing can show, and why."""

    noticed: list[str] = field(default_factory=list[str])
    untested: list[str] = field(default_factory=list[str])
    unshown: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Environment:
    """One environment's rules: its tables, what agents may press, and its time limit."""

    game: GameTables
    choices: Sequence[Choice] = ()
    time_limit_s: float | None = None


def mutate(environment: Environment, trials: Sequence[Trial]) -> Mutations:
    """Change each rule in turn. ``trials`` are the environment's recordings; all of them must be perfect."""
    began = time.monotonic()
    found = Mutations()
    # One that notices is enough, and short ones answer soon.
    recorded = [Evidence(environment.game, one) for one in sorted(trials, key=lambda one: one.result.seconds)]
    for what, notices in mutations(environment):
        reason = ""
        for one in recorded:
            answer = notices(one)
            if answer is True:
                found.noticed.append(what)
                break
            reason = answer or reason
        else:
            if reason:
                found.unshown.append((what, reason))
            else:
                found.untested.append(what)
    return replace(found, seconds=time.monotonic() - began)


def mutations(environment: Environment) -> Iterator[Mutation]:
    """Yield every change of an environment's rules that makes them wrong."""
    game = environment.game
    yield from _of_rewards(game)
    yield from _of_ends(game)
    yield from _of_ready(game)
    yield from _of_limits(game)
    yield from _of_keys(environment.choices)
    yield from _of_steps(game)
    if environment.time_limit_s is not None:
        yield _of_time_limit(environment.time_limit_s)


def _of_rewards(game: GameTables) -> Iterator[Mutation]:
    yield "that rewards aren't one too many", _altered(lambda episode: _alter_rewards(episode, lambda one: one + 1))
    yield f"that rewards aren't {LATE_S:g} s late", _altered(lambda episode: _alter_rewards(episode, late_s=LATE_S))
    for index, reward in enumerate(game.rewards):
        name = f"the reward of {reward.source}"
        if reward.source in OWN_SOURCES:
            yield f"the sign of {name}", _altered(lambda episode: _alter_heard(episode, lambda one: -one))
            yield f"the factor of {name}", _altered(lambda episode: _alter_heard(episode, lambda one: 2 * one))
            yield f"that {name} is given", _altered(lambda episode: episode.heard.clear())
            continue
        name += " by the second" if reward.give == "second" else ""
        yield f"the sign of {name}", _rewarded(game, index, scale=-reward.scale)
        yield f"the factor of {name}", _rewarded(game, index, scale=2 * reward.scale)
        rest = [*game.rewards[:index], *game.rewards[index + 1 :]]
        yield f"that {name} is given", _other(game.model_copy(update={"rewards": rest}))
        if reward.begins is not None:
            yield f"from which value {name} counts", _rewarded(game, index, begins=reward.begins + 1)
        if reward.when is not None:
            yield f"when {name} is given: {reward.when}", _rewarded(game, index, when=None)
            for text in shifted(reward.when, game.sources):
                yield f"that {name} isn't given when {text}", _rewarded(game, index, when=text)


def _of_ends(game: GameTables) -> Iterator[Mutation]:
    if not game.scraped:
        yield from _of_said_ends("the ends")
        return
    if game.is_heard:
        for what, notices in _of_said_ends("the ends that the program reports", REPORTS):

            def heard(recorded: Evidence, notices: Callable[[Evidence], Answer] = notices) -> Answer:
                return notices(recorded) if recorded.hears_ends else "a program needn't report ends, and none was heard"

            yield what, heard
    kinds: tuple[Literal["done", "truncated"], ...] = ("done", "truncated")
    for kind in kinds:
        conditions: dict[str, str] = getattr(game.episode, kind)
        for reason, text in conditions.items():
            name = f"the end {reason or text!r}"
            rest = {other: condition for other, condition in conditions.items() if other != reason}
            yield name, _other(_with_episode(game, **{kind: rest}))
            yield from _of_end(name, lambda done, reason=reason or text: done.reason == reason)
            for other in shifted(text, game.sources):
                yield f"that {name} isn't {other}", _other(_with_episode(game, **{kind: {**conditions, reason: other}}))


def _of_said_ends(name: str, source: str = "") -> Iterator[Mutation]:
    def is_one(done: Done) -> bool:
        return done.source == source

    def lose(episode: Scraped) -> None:
        if episode.done is not None and is_one(episode.done.what):
            episode.done = None

    yield name, _altered(lose)
    yield from _of_end(name, is_one)


def _of_end(name: str, is_one: Callable[[Done], bool]) -> Iterator[Mutation]:
    def late(done: Mark[Done]) -> Mark[Done]:
        return Mark(done.at + LATE_S, done.what, done.reported_at + LATE_S)

    def otherwise(done: Mark[Done]) -> Mark[Done]:
        what = replace(done.what, terminated=not done.what.terminated, truncated=not done.what.truncated)
        return Mark(done.at, what, done.reported_at)

    for what, change in ((f"that {name} isn't {LATE_S:g} s late", late), (f"whether {name} is an outcome", otherwise)):

        def alter(episode: Scraped, change: Callable[[Mark[Done]], Mark[Done]] = change) -> None:
            if episode.done is not None and is_one(episode.done.what):
                episode.done = change(episode.done)

        yield what, _altered(alter)


def _of_ready(game: GameTables) -> Iterator[Mutation]:
    ready = game.episode.ready
    if ready is None:
        return
    for text in (None, *shifted(ready, game.sources)):
        other = _with_episode(game, ready=text)

        def notices(recorded: Evidence, other: GameTables = other) -> Answer:
            if recorded.differs(other) or (not game.reset.spares and recorded.begins_sooner(other)):
                return True
            if game.reset.spares:
                return _ON_SPARES
            waits = bool(game.reset.steps) and game.reset.steps[-1].until is not None
            return "the last step waits for as much" if waits else False

        yield (f"that ready isn't {text}" if text else f"what ready waits for: {ready}"), notices


def _of_limits(game: GameTables) -> Iterator[Mutation]:
    for name, source in game.sources.items():
        for bound in ("min", "max", "max_jump", "monotonic"):
            if getattr(source, bound) is not None:

                def notices(
                    recorded: Evidence, name: str = name, source: Source = source, bound: str = bound
                ) -> Answer:
                    tighter = _tighter(source, bound, recorded.values[name])
                    if tighter is None:
                        return False
                    limited = source.model_copy(update={bound: tighter})
                    return recorded.differs(game.model_copy(update={"sources": {**game.sources, name: limited}}))

                yield f"{bound} of {name}, as nothing differs with one that is too tight", notices


def _tighter(source: Source, bound: str, values: Sequence[Sequence[float]]) -> float | str | None:
    """Return a bound that what was read exceeds, by no more than needed; None if what was read has no such."""
    if bound == "monotonic":
        return "down" if source.monotonic == "up" else "up"
    if bound == "max_jump":
        return max(map(abs, jumps(values)), default=0.0) / 2 or None
    seen = sorted({value for one in values for value in one})
    if not seen:
        return None
    if bound == "min":
        return (seen[0] + seen[1]) / 2 if len(seen) > 1 else seen[0] + 1
    return (seen[-1] + seen[-2]) / 2 if len(seen) > 1 else seen[-1] - 1


def _of_keys(choices: Sequence[Choice]) -> Iterator[Mutation]:
    for choice in choices:
        if choice.keys:
            yield f"the keys of {choice.name!r}", lambda recorded, keys=choice.keys: recorded.held(keys)


def _of_steps(game: GameTables) -> Iterator[Mutation]:
    reset = game.reset
    for list_name, steps in (("start", reset.start), ("steps", reset.steps)):
        pressing = [(number, step) for number, step in enumerate(steps, 1) if step.keys or step.type or step.click]

        def notices(recorded: Evidence, some: Sequence[Any], once: bool = list_name == "start") -> Answer:
            if any(recorded.led_by(step) for _, step in some):
                return True
            if reset.spares:
                return _ON_SPARES
            return "the program had been started before the recording began" if once else False

        if pressing:
            yield f"reset.{list_name}", lambda recorded, some=pressing, ask=notices: ask(recorded, some)
        for number, step in pressing:
            what = "click" if step.click else "keys"
            one = [(number, step)]
            yield (
                f"the {what} of reset.{list_name}[{number}]",
                lambda recorded, some=one, ask=notices: ask(recorded, some),
            )
        for number, step in enumerate(steps, 1):
            if step.restore is not None:
                yield f"the file of reset.{list_name}[{number}]", lambda _: "files aren't recorded"


def _of_time_limit(limit_s: float) -> Mutation:
    def notices(recorded: Evidence) -> Answer:
        return recorded.longest > limit_s / 2 or "it is your choice, and no episode is half as long"

    return "the time limit", notices


def _altered(alter: Callable[[Scraped], None]) -> Callable[[Evidence], Answer]:
    return lambda recorded: recorded.differs_if(alter)


def _other(game: GameTables) -> Callable[[Evidence], Answer]:
    return lambda recorded: recorded.differs(game)


def _rewarded(game: GameTables, index: int, **changes: Any) -> Callable[[Evidence], Answer]:
    rewards: list[RewardTable] = list(game.rewards)
    rewards[index] = rewards[index].model_copy(update=changes)
    return _other(game.model_copy(update={"rewards": rewards}))


def _with_episode(game: GameTables, **changes: Any) -> GameTables:
    return game.model_copy(update={"episode": game.episode.model_copy(update=changes)})


def _alter_rewards(episode: Scraped, change: Callable[[float], float] = lambda one: one, late_s: float = 0.0) -> None:
    episode.rewards = [Mark(one.at + late_s, change(one.what), one.reported_at + late_s) for one in episode.rewards]
    _alter_heard(episode, change, late_s)


def _alter_heard(episode: Scraped, change: Callable[[float], float], late_s: float = 0.0) -> None:
    episode.heard = [Mark(one.at + late_s, change(one.what), one.reported_at + late_s) for one in episode.heard]


def shifted(text: str, sources: Mapping[str, Source]) -> Iterator[str]:
    """Yield a condition with each of its numbers one more, and one less; or ``<`` for ``<=`` where there is none.

    Left out is what comes to the same within the bounds of a source.
    """
    tree = ast.parse(text.strip(), mode="eval")
    for place, node in enumerate(ast.walk(tree)):
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                pass
            case _:
                continue
        for change in _changes(left, op, right):
            other = copy.deepcopy(tree)
            compare = list(ast.walk(other))[place]
            assert isinstance(compare, ast.Compare)
            change(compare)
            if _differs(node, compare, sources):
                yield ast.unparse(other)


def _changes(left: ast.expr, op: ast.cmpop, right: ast.expr) -> Iterator[Callable[[ast.Compare], None]]:
    def add(compare: ast.Compare, to_left: bool, amount: int) -> None:
        constant = compare.left if to_left else compare.comparators[0]
        number = ast.Constant(_number(constant) + amount)
        if to_left:
            compare.left = number
        else:
            compare.comparators = [number]

    numbers = [side for side, node in ((True, left), (False, right)) if _is_number(node)]
    for to_left in numbers:
        for amount in (1, -1):
            yield lambda compare, to_left=to_left, amount=amount: add(compare, to_left, amount)
    swapped = _SWAPPED.get(type(op))
    if not numbers and swapped is not None:
        yield lambda compare: setattr(compare, "ops", [swapped()])


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _number(node: ast.expr) -> float:
    assert isinstance(node, ast.Constant)
    assert isinstance(node.value, (int, float))
    return node.value


def _differs(one: ast.Compare, other: ast.Compare, sources: Mapping[str, Source]) -> bool:
    """Return whether two comparisons of a source with a number can come to different ends."""
    names = [node.id for node in (one.left, one.comparators[0]) if isinstance(node, ast.Name)]
    numbers = [_number(node) for node in (one.left, one.comparators[0]) if _is_number(node)]
    if len(names) != 1 or len(numbers) != 1:
        return True
    source = sources[names[0]]
    share = isinstance(source, (BarSource, ChangeSource, ColourSource))
    low = source.min if source.min is not None else 0.0 if share else float("-inf")
    high = source.max if source.max is not None else 1.0 if share else float("inf")
    near = {min(max(numbers[0] + half / 2, low), high) for half in range(-4, 5)}
    texts = ast.unparse(one), ast.unparse(other)
    return any(holds(texts[0], {names[0]: value}) != holds(texts[1], {names[0]: value}) for value in near)
