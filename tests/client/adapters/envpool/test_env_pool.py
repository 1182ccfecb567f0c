"""Remotes as one EnvPool: what is sent and refused, who comes first, and what becomes of a remote that is lost."""

from collections.abc import Generator
from typing import Any

import dm_env
import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, VectorEnv
from pluriverse.adapters import envpool
from pluriverse.errors import ActionError, Misuse
from support.remotes import daemon_at

pytestmark = pytest.mark.display

LAKE = "gym-core.FrozenLake-v1"
LOCKSTEP: dict[str, Any] = {"clock": "lockstep"}


def int32(*values: Any) -> Any:
    return np.array(values, np.int32)


# -- What is sent ------------------------------------------------------------------------------------------------------


@pytest.fixture
def lake(address: str) -> Generator[Any]:
    """Three that are waited for together, in episodes of two steps."""
    env = envpool.make_gymnasium(LAKE, num_envs=3, remotes=address, max_episode_steps=2, **LOCKSTEP)
    env.reset()
    yield env
    env.close()


def test_whole_numbers_of_any_type_are_for_all_or_for_those_that_are_named_in_their_order(lake: Any) -> None:
    for dtype in (np.int32, np.int64, np.uint8, np.float32, np.float64):
        assert lake.step(np.array([2, 0, 1], dtype))[-1]["env_id"].tolist() == [0, 1, 2]
    info = lake.step([2, 1], np.array([2, 0]))[-1]
    assert info["env_id"].tolist() == info["players"]["env_id"].tolist() == [2, 0]
    named = {"action": int32(2, 1), "env_id": int32(2, 0)}
    for more in ({}, {"players.env_id": int32(2, 0)}, {"players": {"env_id": int32(2, 0)}}):
        assert lake.step({**named, **more})[-1]["env_id"].tolist() == [2, 0]
    assert lake.step({"action": int32(0, 1, 2)})[-1]["env_id"].tolist() == [0, 1, 2]


def test_wrong_environments_are_misuse_and_nothing_is_sent(lake: Any) -> None:
    wrong: list[Any] = [[0, 0], [0, 3], [-1, 0], [0.0, 1.0], [True, False], [], [[0, 1]], "01"]
    for env_id in wrong:
        with pytest.raises(Misuse, match="env_id"):
            lake.send([0, 0], env_id)
    with pytest.raises(Misuse, match="players"):
        lake.send({"action": int32(0), "env_id": int32(1), "players.env_id": int32(2)})
    with pytest.raises(Misuse, match="recv waits for"):
        lake.recv()


def test_wrong_shapes_types_and_names_are_wrong_actions(lake: Any) -> None:
    wrong: list[Any] = [[0, 0], [[0], [0], [0]], [0.5, 0, 0], [np.nan, 0, 0], [True, True, False], "abc", None]
    wrong += [{"action": np.zeros(3, np.int64)}, {"env_id": int32(0, 1, 2)}]
    wrong += [{"action": int32(0, 0, 0), **more} for more in ({"env_id": np.arange(3)}, {"other": int32(0, 0, 0)})]
    for action in wrong:
        with pytest.raises(ActionError):
            lake.send(action)


def test_parts_of_a_pointer_are_refused_where_they_are_missing(address: str) -> None:
    env = envpool.make_gymnasium(LAKE, remotes=address, actions="pointer", **LOCKSTEP)
    env.reset()
    with pytest.raises(ActionError, match=r"action\.pointer"):
        env.send(int32(0))
    env.close()


# -- Beside EnvPool's own calls ----------------------------------------------------------------------------------------


def test_it_is_a_vector_of_gymnasiums_and_says_when_it_resets(lake: Any) -> None:
    assert {VectorEnv, gymnasium.Env} <= set(type(lake).__mro__)
    assert lake.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    assert (lake.num_envs, len(lake), lake.all_env_ids.tolist()) == (3, 3, [0, 1, 2])
    assert lake.single_action_space == lake.action_space == gymnasium.spaces.Discrete(4)
    assert lake.unwrapped is lake


def test_stack_begins_with_an_episodes_first_picture_and_has_the_last_ones_oldest_first(address: str) -> None:
    options: dict[str, Any] = {"stack_num": 2, "max_episode_steps": 2, **LOCKSTEP}
    env: Any = envpool.make_gymnasium("gym-core.CartPole-v0", remotes=address, **options)
    first, one, two, again = env.reset()[0], *(env.step(np.array([0]))[0] for _ in range(3))
    env.close()
    for begun in (first, again):
        assert np.array_equal(begun[:, :3], begun[:, 3:])
    assert np.array_equal(one[:, :3], first[:, 3:])
    assert np.array_equal(two[:, :3], one[:, 3:])
    assert not np.array_equal(two[:, :3], two[:, 3:])


def test_reset_of_some_leaves_the_others_takes_no_options_and_ignores_a_seed_with_a_warning(lake: Any) -> None:
    lake.reset()
    lake.step(np.zeros(3))
    _, info = lake.reset(np.array([1]))
    assert (info["env_id"].tolist(), info["elapsed_step"].tolist()) == ([1], [0])
    assert lake.step(np.zeros(3))[4]["elapsed_step"].tolist() == [2, 1, 2]
    with pytest.raises(Misuse, match="reset takes no options"):
        lake.reset(options={"other": 1})
    with pytest.warns(UserWarning, match="ignored"):
        lake.reset(seed=3)


def test_steps_of_dm_env_are_first_mid_and_last_and_discounts_are_envpools(address: str) -> None:
    env: Any = envpool.make(LAKE, "dm", remotes=address, max_episode_steps=2, **LOCKSTEP)
    assert isinstance(env, dm_env.Environment)
    steps: list[Any] = [env.reset(), *(env.step(np.array([0])) for _ in range(4))]
    env.close()
    assert [int(step.step_type[0]) for step in steps] == [0, 1, 2, 0, 1]
    assert [float(step.discount[0]) for step in steps] == [1.0, 1.0, 0.0, 1.0, 1.0]
    assert steps[0].observation.obs.shape == (1, *env.observation_spec().obs.shape)
    assert steps[0].observation.env_id.tolist() == steps[0].observation.players.env_id.tolist() == [0]


def test_episodes_of_one_seed_begin_alike(address: str) -> None:
    env = envpool.make_gymnasium(
        "gym-core.MiniGrid-FourRooms-v0", num_envs=3, remotes=address, seed=[5, 5, 6], **LOCKSTEP
    )
    first = env.reset()[0]
    env.close()
    assert np.array_equal(first[0], first[1])
    assert not np.array_equal(first[0], first[2])


def test_game_whose_every_action_is_a_move_opens_with_no_ops(address: str) -> None:
    env: Any = envpool.make_gymnasium("Backgammon-v5", remotes=address, **LOCKSTEP)
    _, info = env.reset()
    env.close()
    assert env.spec.config.noop_max == 30
    assert info["elapsed_step"].tolist() == [0]


# -- Who comes first ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pong() -> Generator[Any]:
    """Three games of which two are waited for."""
    env = envpool.make_gymnasium("Pong-v5", num_envs=3, batch_size=2, remotes="local:3", noop_max=0, frame_skip=1)
    yield env
    env.close()


@pytest.fixture
def begun(pong: Any) -> Any:
    """All of them asked for, and handed out."""
    pong.async_reset()
    idle = [*pong.recv()[4]["env_id"]]
    # Two more are waited for than the one that is left: one of the first two goes on.
    pong.send(np.zeros(1), np.array(idle[:1]))
    pong.recv()
    return pong


def test_recv_hands_out_whoever_answers_first(begun: Any) -> None:
    processes = daemon_at(begun.core.env.addresses[2]).children(recursive=True)
    program = next(each for each in processes if "main.py" in each.cmdline())
    program.suspend()
    try:
        for _ in range(2):  # whatever it had drawn before
            assert sorted(begun.step(np.zeros(2), np.array([2, 0]))[4]["env_id"]) == [0, 2]
        begun.send(np.zeros(3), np.array([2, 1, 0]))
        assert sorted(begun.recv()[4]["env_id"]) == [0, 1]
    finally:
        program.resume()
    begun.send(np.zeros(1), np.array([0]))
    assert sorted(begun.recv()[4]["env_id"]) == [0, 2]


def test_nobody_starves_and_what_was_received_is_never_written_to_again(begun: Any) -> None:
    begun.send(np.zeros(3), np.array([0, 1, 2]))
    seen: list[int] = []
    kept: list[tuple[Any, Any]] = []
    for _ in range(40):
        observations, rewards, _, _, info = begun.recv()
        indices = info["env_id"]
        kept += [(array, array.copy()) for array in (observations, rewards, indices)]
        seen += indices.tolist()
        begun.send(np.zeros(2), indices)
    begun.recv()
    assert min(seen.count(index) for index in range(3)) > 10
    assert all(np.array_equal(array, copy) for array, copy in kept)


def test_second_send_before_it_was_received_is_refused_and_sends_nothing(begun: Any) -> None:
    begun.send(np.zeros(1), np.array([1]))
    with pytest.raises(Misuse, match=r"environments \[1\] have not been received"):
        begun.send(np.zeros(2), np.array([0, 1]))
    begun.send(np.zeros(1), np.array([0]))
    assert sorted(begun.recv()[4]["env_id"]) == [0, 1]


def test_lost_remote_truncates_its_own_episode_and_keeps_nobody_waiting(begun: Any) -> None:
    daemon_at(begun.core.env.addresses[0]).kill()
    begun.send(np.zeros(3), np.array([0, 1, 2]))
    others = lost = 0
    back = -1
    while back < 2:
        _, _, terminated, truncated, info = begun.recv()
        indices = info["env_id"]
        for position, index in enumerate(indices.tolist()):
            if info["pluriverse"]["lost"][position]:
                assert (index, truncated[position], terminated[position]) == (0, True, False)
                lost += 1
            elif index:
                assert not truncated[position]
                others += lost
            elif lost:
                back = info["elapsed_step"][position]
        begun.send(np.zeros(len(indices)), indices)
    assert lost == 1
    assert others >= 20
