"""EnvPool's checker, on environments that keep its promises and on one that doesn't."""

from typing import Any

import pytest
from pluriverse.adapters.envpool.game import Game, Row
from pluriverse.rewarder.result import Result
from pluriverse.testing import NotConforming
from pluriverse.testing.envpool import check

pytestmark = pytest.mark.display


@pytest.mark.parametrize(
    ("env_id", "options"),
    [
        ("Pong-v5", {"noop_max": 4}),
        ("gym-core.FrozenLake-v1", {"stack_num": 2}),
        ("gym-core.CartPole-v0", {"actions": "keys", "gray_scale": True}),
        ("gym-core.MiniGrid-Empty-5x5-v0", {"actions": "pointer", "img_height": 20, "img_width": 30}),
    ],
)
def test_families_conform(env_id: str, options: dict[str, Any], address: str) -> None:
    check(env_id, address, **options)


def test_several_conform_asynchronously(address: str) -> None:
    check("gym-core.CartPole-v0", address, num_envs=3, batch_size=2, clock="lockstep")


def test_broken_promise_is_named(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = Game.take

    def forgetful(game: Game, turn: Result) -> Row:
        return 1, *taken(game, turn)[1:]

    monkeypatch.setattr(Game, "take", forgetful)
    with pytest.raises(NotConforming, match="is at step 1, expected 2"):
        check("gym-core.FrozenLake-v1", address)
