"""Which wrong rules a runtime's recordings would notice: each rule is changed in turn, and judged again.

Pictures are read once, since rules change nothing in them. What no reading shows, such as another key, is sought in
what was recorded beside: the keys and clicks of the steps and of who played, and how long an episode took to be ready.
What leaves nothing in a recording, such as the steps of spares, isn't changed.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from msgspec.structs import replace
from pluriverse_protocol.env_spaces import Choice
from pluriverse_protocol.reports import Done
from pluriverse_server.manifest.conditions import holds
from pluriverse_server.manifest.game import OWN_SOURCES, GameTables, RewardTable
from pluriverse_server.manifest.sources import BarSource, ColourSource, Source
from pluriverse_server.sources.rules import REPORTS

from .compare import Mark
from .evidence import Evidence, jumps
from .judge import Trial
from .rescrape import Scraped

# More than the delays that are allowed, and less than the window within which rewards and ends are found at all.
LATE_S: Final = 0.4

# What is changed, in words that follow "your recordings don't test"; and whether a recording notices.
Mutation = tuple[str, Callable[[Evidence], bool]]

_SWAPPED: Final[Mapping[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}


@dataclass(frozen=True, slots=True)
class Mutations:
    """Wrong rules in words: those that are noticed, and those that aren't."""

    noticed: list[str] = field(default_factory=list[str])
    untested: list[str] = field(default_factory=list[str])


def mutate(game: GameTables, choices: Sequence[Choice], trials: Sequence[Trial]) -> Mutations:
    """Change each rule of an environment, and each choice, in turn; ``trials`` are its recordings, all perfect."""
    found = Mutations()
    # One that notices is enough, and short ones answer soon.
    recorded = [Evidence(game, one) for one in sorted(trials, key=lambda one: one.result.seconds)]
    hears_ends = any(one.hears_ends for one in recorded)
    for what, notices in (
        *_of_rewards(game),
        *_of_ends(game, hears_ends=hears_ends),
        *_of_ready(game),
        *_of_limits(game),
        *_of_keys(choices),
        *_of_steps(game),
    ):
        (found.noticed if any(map(notices, recorded)) else found.untested).append(what)
    return found


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


def _of_ends(game: GameTables, *, hears_ends: bool) -> Iterator[Mutation]:
    if not game.scraped:
        yield from _of_said_ends("the ends")
        return
    if hears_ends:
        yield from _of_said_ends("the ends that the program reports", REPORTS)
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
    ready, steps = game.episode.ready, game.reset.steps
    # Where the last step waits, for as much perhaps, nothing differs.
    if ready is None or game.reset.spares or (steps and steps[-1].until is not None):
        return
    for text in (None, *shifted(ready, game.sources)):
        other = _with_episode(game, ready=text)

        def notices(recorded: Evidence, other: GameTables = other) -> bool:
            return recorded.differs(other) or recorded.begins_sooner(other)

        yield (f"that ready isn't {text}" if text else f"what ready waits for: {ready}"), notices


def _of_limits(game: GameTables) -> Iterator[Mutation]:
    for name, source in game.sources.items():
        for bound in ("min", "max", "max_jump", "monotonic"):
            if getattr(source, bound) is not None:

                def notices(recorded: Evidence, name: str = name, source: Source = source, bound: str = bound) -> bool:
                    tighter = _tighter(source, bound, recorded.values[name])
                    if tighter is None:
                        return False
                    limited = source.model_copy(update={bound: tighter})
                    return recorded.differs(game.model_copy(update={"sources": {**game.sources, name: limited}}))

                yield f"{bound} of {name}, as a tighter one changes nothing", notices


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
    if game.reset.spares:
        return
    pressing = [
        (number, step) for number, step in enumerate(game.reset.steps, 1) if step.keys or step.type or step.click
    ]
    if pressing:
        yield "reset.steps", lambda recorded: any(recorded.led_by(step) for _, step in pressing)
    for number, step in pressing:
        what = "click" if step.click else "keys"
        yield f"the {what} of reset.steps[{number}]", lambda recorded, step=step: recorded.led_by(step)


def _altered(alter: Callable[[Scraped], None]) -> Callable[[Evidence], bool]:
    return lambda recorded: recorded.differs_if(alter)


def _other(game: GameTables) -> Callable[[Evidence], bool]:
    return lambda recorded: recorded.differs(game)


def _rewarded(game: GameTables, index: int, **changes: Any) -> Callable[[Evidence], bool]:
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
    share = isinstance(source, (BarSource, ColourSource))
    low = source.min if source.min is not None else 0.0 if share else float("-inf")
    high = source.max if source.max is not None else 1.0 if share else float("inf")
    near = {min(max(numbers[0] + half / 2, low), high) for half in range(-4, 5)}
    texts = ast.unparse(one), ast.unparse(other)
    return any(holds(texts[0], {names[0]: value}) != holds(texts[1], {names[0]: value}) for value in near)
