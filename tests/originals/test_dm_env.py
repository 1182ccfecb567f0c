"""Our dm_env interface beside the installed original."""

from __future__ import annotations

import unittest
from collections.abc import Callable, Iterator
from typing import Any, Final, cast

import dm_env
from dm_env import test_utils  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]
from pluriverse.adapters.dm_env import DmEnvironment, load
from support.originals import Row, check_table, compare, compare_members

CART: Final = "gym-core.CartPole-v0"
GRID: Final = "gym-core.MiniGrid-Empty-5x5-v0"
NO_ACTION: Final = "no action at all"
LIMIT: Final = 3

Specs = dict[str, Any]

REASONS: Final[dict[str, str]] = {}
REAL_TIME: Final = Row(
    "the same seed and actions give the same episode",
    "differs: time goes on while an agent thinks; `Sync` variants wait, and do with lossless pictures",
)


def test_environment_has_and_does_all_that_dm_envs_does() -> None:
    rows = compare_members("Environment.", DmEnvironment, dm_env.Environment, REASONS)
    rows += [compare(name, holds, REASONS) for name, holds in behaviours()]
    check_table("dm_env", [*rows, REAL_TIME])


def behaviours() -> Iterator[tuple[str, bool]]:
    """What was tried, and whether it is as dm_env documents it."""
    with load(CART, "local:1", seed=1) as env:
        first = env.step(NO_ACTION)
        yield "step() on a fresh environment begins an episode, and ignores its action", first.first()
        again = env.reset()
        yield "reset() in the middle of an episode begins another one", again.first()
        yield "a FIRST step has neither reward nor discount", (again.reward, again.discount) == (None, None)
        middle = env.step(env.action_spec().generate_value())
        yield "a value that the action's spec generates is an action", middle.mid()
        yield "a MID step has a reward and discount 1", (type(middle.reward), middle.discount) == (float, 1.0)
        yield "observations, rewards and discounts are as their specs say", fits(env, middle)
        kept = middle.observation.copy()
        last = played_out(env)
        yield "an observation that was given isn't changed later", bool((middle.observation == kept).all())
        yield "an outcome ends an episode with discount 0", (last.last(), last.discount) == (True, 0.0)
        yield "step() after a LAST one begins an episode, and ignores its action", env.step(NO_ACTION).first()
        yield "reward_spec() is the original's own", env.reward_spec() == dm_env.Environment.reward_spec(env)
        yield "discount_spec() is the original's own", env.discount_spec() == dm_env.Environment.discount_spec(env)
    with load(CART, "local:1", max_episode_steps=LIMIT) as env:
        env.reset()
        last = played_out(env)
        yield "a limit of steps ends an episode with discount 1", (last.last(), last.discount) == (True, 1.0)
    with load(GRID, "local:1", actions="pointer") as env:
        observations, actions = cast("Specs", env.observation_spec()), cast("Specs", env.action_spec())
        named = all(spec.name == name for name, spec in observations.items())
        yield "dm_control: specs of observations have the names of their keys", named
        counts = {spec.name.count("\t") + 1 == spec.shape[0] for spec in actions.values()}
        yield "dm_control: specs of actions have the names of their numbers, with tabs between them", counts == {True}
    yield "test_utils.EnvironmentTestMixin passes", conforms(lambda: load(CART, "local:1", seed=1))


def played_out(env: DmEnvironment) -> dm_env.TimeStep:
    """The last step of an episode in which the pole is pushed one way."""
    while not (step := env.step(0)).last():
        pass
    return step


def fits(env: DmEnvironment, step: dm_env.TimeStep) -> bool:
    """Whether a step is as the specs say."""
    try:
        env.observation_spec().validate(step.observation)
        env.reward_spec().validate(step.reward)
        env.discount_spec().validate(step.discount)
    except ValueError:
        return False
    return True


def conforms(make: Callable[[], DmEnvironment]) -> bool:
    """Whether dm_env's own tests pass."""

    class Conformance(test_utils.EnvironmentTestMixin, unittest.TestCase):  # pyright: ignore[reportUntypedBaseClass, reportUnknownMemberType]
        def make_object_under_test(self) -> DmEnvironment:
            return make()

        def make_action_sequence(self) -> Iterator[int]:
            # Pushed one way for so long the pole has fallen.
            yield from [0] * 90

    suite = unittest.defaultTestLoader.loadTestsFromTestCase(cast("type[unittest.TestCase]", Conformance))
    result = unittest.TestResult()
    suite.run(result)
    return result.testsRun >= 4 and result.wasSuccessful()
