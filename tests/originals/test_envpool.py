"""Our EnvPool beside the installed original: Pong and other games in its process, and on remotes of this machine."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, cast

import dm_env
import envpool
import envpool.atari
import envpool.registration
import gymnasium
import numpy as np
import pluriverse.adapters.envpool as ours
import pluriverse.adapters.envpool.atari as our_atari
import pluriverse.adapters.envpool.atari.registration as our_games
import pytest
from envpool.atari.registration import atari_game_list
from support.originals import Row, check_table, compare, compare_members
from support.remotes import on_machine

pytestmark = pytest.mark.display

# Makes an EnvPool of a task, by default Pong through Gymnasium; it is closed when the behaviour was tried.
Make = Callable[..., Any]

RAM = "can't: a screen doesn't show the machine's memory"
BOUND = "differs: EnvPool's least reward is the least number above 0"
REASONS: dict[str, str] = {
    "info:ram: dtype, shape and bounds": RAM,
    "observation_spec().ram": RAM,
    "info of a step: ram": RAM,
    "reward: dtype, shape and bounds": BOUND,
    "info:reward: dtype, shape and bounds": BOUND,
    "observation_spec().reward": BOUND,
    "an action of 0.5": "differs: refused, as it is a mistake",
    "a dict without an action: KeyError": "differs: an ActionError and RuntimeError, as of other wrong actions",
}

# -- What is tried on both: each returns what came of it ---------------------------------------------------------------


def first_step(make: Make) -> Any:
    return row(make().step(np.array([3])))


def limited(make: Make) -> Any:
    env = make(num_envs=2, max_episode_steps=3)
    return [elapsed(env.reset()[1]), *(row(env.step(np.zeros(2, int))) for _ in range(6))]


def limited_dm(make: Make) -> Any:
    env = make(kind="dm", max_episode_steps=3)
    steps = [env.reset(), *(env.step(np.zeros(1, int)) for _ in range(6))]
    return [[each.tolist() for each in (step.step_type, step.reward, step.discount)] for step in steps]


def some(make: Make) -> Any:
    env = make(num_envs=3)
    env.reset()
    tried = [env.step(np.zeros(2, int), np.array(indices))[-1] for indices in ([0, 1], [1, 2])]
    tried.append(env.reset(np.array([1]))[1])
    tried.append(env.reset(options={"reset_mask": np.array([True, False, True])})[1])
    return [[info["env_id"].tolist(), elapsed(info)] for info in tried]


def asynchronous(make: Make) -> Any:
    """What each environment is told, in its own order."""
    env = make(num_envs=3, batch_size=2, max_episode_steps=3)
    seen: dict[int, list[Any]] = {index: [] for index in range(3)}
    env.async_reset()
    while min(map(len, seen.values())) < 6:
        observations, _, terminated, truncated, info = env.recv()
        assert len(observations) == 2
        for place, index in enumerate(info["env_id"].tolist()):
            seen[index].append([elapsed(info)[place], bool(terminated[place]), bool(truncated[place])])
        env.send({"action": np.zeros(2, np.int32), "env_id": info["env_id"]})
    return [len(env), env.is_async, env.all_env_ids.tolist(), {index: told[:6] for index, told in seen.items()}]


def numbers(make: Make) -> Any:
    env = make()
    env.reset()
    kinds = (np.int32, np.int64, np.uint8, np.float32, np.float64)
    return [elapsed(env.step(np.array([1], kind))[-1]) for kind in kinds]


def half(make: Make) -> Any:
    env = make()
    env.reset()
    try:
        return elapsed(env.step(np.array([0.5]))[-1])
    except RuntimeError:
        return None


def warned(make: Make) -> Any:
    env = make()
    with pytest.warns(UserWarning, match="make"):
        env.seed(3)
    with pytest.warns(UserWarning, match="make"):
        env.reset(seed=3)


def stacked(make: Make) -> Any:
    env = make()
    first = env.reset()[0]
    second = env.step(np.array([2]))[0]
    third = env.step(np.array([2]))[0]
    return [bool((first == first[:, :1]).all()), bool((third[:, :3] == second[:, 1:]).all()), bool(first.any())]


def shapes(make: Make) -> Any:
    told: list[Any] = []
    for options in (
        {"gray_scale": False},
        {"img_height": 50, "img_width": 60, "stack_num": 2},
        {"img_height": 210, "img_width": 160, "gray_scale": False, "stack_num": 1},
    ):
        env = make(**options)
        told += [env.reset()[0].shape, env.observation_space.shape, env.step(np.zeros(1, int))[0].shape]
    return told


def kept(make: Make) -> Any:
    env = make()
    arrays = [env.reset()[0]]
    arrays += [each for action in (2, 3, 2) for each in env.step(np.array([action]))[:4]]
    copies = [array.copy() for array in arrays]
    for _ in range(5):
        env.step(np.array([3]))
    return [bool(np.array_equal(array, copy)) for array, copy in zip(arrays, copies, strict=True)]


def all_actions(make: Make) -> Any:
    env = opened(make("Breakout-v5", full_action_space=True))
    return [str(env.action_space), elapsed(env.step(np.array([17]))[-1])]


def variants(make: Make) -> Any:
    env = make("Breakout-v5", mode=4, difficulty=1, repeat_action_probability=0.25, noop_max=1, use_fire_reset=False)
    _, info = env.reset()
    return [elapsed(info), info["lives"].tolist(), *(env.config[name] for name in ("mode", "difficulty"))]


def life_lost(make: Make) -> Any:
    """How an episode of a life ends, and what follows."""
    env = make("Breakout-v5", kind="dm", episodic_life=True, noop_max=1)
    step = env.reset()
    told = [step.observation.lives.tolist()]
    while not step.last().any():
        # Nobody catches the ball, which the fire button serves.
        step = env.step(np.array([1]))
    count = int(env.step(np.array([1])).step_type[0])
    return [*told, step.observation.lives.tolist(), step.discount.tolist(), step.observation.terminated.tolist(), count]


def life_told(make: Make) -> Any:
    """The discount of a lost life that ends no episode."""
    env = make("Breakout-v5", kind="dm", zero_discount_on_life_loss=True, noop_max=1)
    step = env.reset()
    while step.observation.lives[0] == 5:
        assert step.discount.tolist() == [1.0]
        step = env.step(np.array([1]))
    return [step.step_type.tolist(), step.discount.tolist(), env.step(np.array([1])).discount.tolist()]


def clipped(make: Make) -> Any:
    env = opened(make("Carnival-v5", reward_clip=True))
    for step in range(300):
        # Whoever fires again and again hits something.
        _, reward, _, _, info = env.step(np.array([step // 2 % 2]))
        if reward.any():
            return [reward.tolist(), bool(info["reward"][0] > 1)]
    return None


def rendered(make: Make) -> Any:
    env = opened(make(num_envs=2, render_mode="rgb_array"))
    frames = [env.render(), env.render([1, 0]), env.render(env_ids=1)]
    frames.append(opened(make(render_mode="rgb_array", render_width=40, render_height=30)).render())
    return [env.render_mode, *((frame.shape, str(frame.dtype), bool(frame.any())) for frame in frames)]


def raw(make: Make) -> Any:
    """The pool underneath."""
    env = make(num_envs=2)
    env._reset(np.arange(2, dtype=np.int32))
    told: list[Any] = [env._action_keys]
    for _ in range(3):
        state = dict(zip(env._state_keys, env._recv(), strict=True))
        told.append([state["info:env_id"].tolist(), state["elapsed_step"].tolist(), state["step_type"].tolist()])
        env._send((state["info:env_id"], state["info:players.env_id"], np.zeros(2, np.int32)))
    return told


def seeded(make: Make) -> Any:
    configs = [make(num_envs=2, seed=seed).config for seed in (7, [5, 3], np.array([5, 3]), np.int64(7))]
    return [(config["seed"], list(config["env_seed"])) for config in configs]


def described(make: Make) -> Any:
    is_dm_env = isinstance(make(kind="dm"), dm_env.Environment)
    env = make(num_envs=2)
    return [
        str(env).partition("(num_envs=2, batch_size=2, ")[0],
        [isinstance(env, kind) for kind in (gymnasium.Env, gymnasium.vector.VectorEnv)],
        is_dm_env,
        [str(each) for each in (env.metadata["autoreset_mode"], env.num_envs, env.is_vector_env, env.render_mode)],
        [env.unwrapped is env, env.single_action_space == env.action_space],
        env.spec.reward_threshold,
        env.close(),
        env.close(),
    ]


BEHAVIOURS: dict[str, Callable[[Make], Any]] = {
    "a step before any reset begins an episode, and its action is ignored": first_step,
    "an episode of max_episode_steps=3, and the step after its end": limited,
    "the same through dm_env: step types, rewards and discounts": limited_dm,
    "calls for some of the environments, by env_id and reset_mask": some,
    "batches of the asynchronous mode": asynchronous,
    "actions in arrays of whole numbers of any type": numbers,
    "an action of 0.5": half,
    "seed() and reset(seed=…) only warn": warned,
    "a reset fills the stack, and a step pushes one picture": stacked,
    "gray_scale, img_height, img_width and stack_num make the shapes": shapes,
    "arrays that were received stay as they were": kept,
    "full_action_space": all_actions,
    "mode, difficulty, repeat_action_probability, noop_max and use_fire_reset": variants,
    "episodic_life": life_lost,
    "zero_discount_on_life_loss": life_told,
    "reward_clip, and info's reward": clipped,
    "render(): shapes": rendered,
    "_reset, _recv and _send of the raw pool": raw,
    "seed as integer, list and array": seeded,
    "str(env), kinds of environments, and close() twice": described,
}

# Where the original raises one of Python's own errors, ours is one, too.
ERRORS: dict[str, Callable[[Any, Make], Any]] = {
    "a game that there isn't": lambda _, make: make("Nothing-v5"),
    "an env_type that there isn't": lambda _, make: make(kind="gymnastics"),
    "an option that there isn't": lambda _, make: make(foo=1),
    "num_envs=0": lambda _, make: make(num_envs=0),
    "batch_size over num_envs": lambda module, _: module.make_spec("Pong-v5", num_envs=4, batch_size=5),
    "batch_size over num_envs, in a spec": lambda module, _: module.atari.AtariEnvSpec(
        module.make_spec("Pong-v5", num_envs=4).config._replace(batch_size=5)
    ),
    "a seed of 33 bits": lambda _, make: make(seed=2**31),
    "a seed for one of two": lambda _, make: make(num_envs=2, seed=[1]),
    "seed and env_seed": lambda _, make: make(seed=[1], env_seed=[1]),
    "gym_reset_return_info=False": lambda _, make: make(gym_reset_return_info=False),
    "from_pixels=True": lambda _, make: make(from_pixels=True),
    "a render_mode that there isn't": lambda _, make: make(render_mode="ansi"),
    "a mode that there isn't": lambda _, make: make(mode=99),
    "a difficulty that there isn't": lambda _, make: make(difficulty=99),
    "an array of int64 in a dict": lambda _, make: make().send({"action": np.zeros(1, np.int64)}),
    "an action of another shape": lambda _, make: make(num_envs=2).send(np.zeros((2, 1), np.int32)),
    "a dict without an action": lambda _, make: make().send({"env_id": np.zeros(1, np.int32)}),
    "render() without a render_mode": lambda _, make: make().render(),
    "a window of two environments": lambda _, make: opened(make(num_envs=2, render_mode="human")).render([0, 1]),
    "an option of reset that there isn't": lambda _, make: make().reset(options={"other": 1}),
    "a reset_mask of another shape": lambda _, make: make().reset(options={"reset_mask": np.ones(2, bool)}),
    "a reset_mask of nobody": lambda _, make: make().reset(options={"reset_mask": np.zeros(1, bool)}),
    "xla() without JAX": lambda _, make: make().xla(),
}

# What can't be tried on both.
UNTRIED: dict[str, str] = {
    "xla() with JAX": "can't: no compiler steps a remote, whose time goes on",
    "the same pictures from the same seed and actions": "can't: time goes on between two calls",
    "CartPole-v1 and all other ids that aren't Atari's": (
        "differs: there are ids of ours, such as gym-core.CartPole-v1, and pictures of them; none of MuJoCo"
    ),
    "envpool.registration.registry": "differs: `list_all_envs()` has the ids, and `make_spec(id).config` their options",
    "noop_max in frames": "differs: in whole steps",
    "use_inter_area_resize=False": "differs: only for pictures as they are drawn; others are resized by area",
    "an action beyond the action space": "differs: refused, as it is a mistake",
    "a second send before recv": "differs: refused, as an action would be lost",
}


@pytest.fixture(scope="module")
def address() -> Generator[Callable[[int], str]]:
    """The address of so many remotes."""
    with ExitStack() as stack:
        remotes = [stack.enter_context(on_machine()) for _ in range(3)]
        places = [f"127.0.0.1:{remote.vnc_port}+{remote.port}" for remote in remotes]
        yield lambda n: f"vnc://{','.join(places[:n])}?password={remotes[0].password}"


@contextmanager
def maker(module: Any, address: Callable[[int], str] | None = None) -> Generator[Make]:
    """What makes one EnvPool after the other, and closes each before the next."""
    made: list[Any] = []

    def make(task: str = "Pong-v5", kind: str = "gymnasium", **options: Any) -> Any:
        if made:
            made.pop().close()
        if address is not None:
            options["remotes"] = address(options.get("num_envs") or 1)
        made.append(module.make(task, kind, **options))
        return made[0]

    try:
        yield make
    finally:
        for env in made:
            env.close()


@pytest.mark.timeout(300)
def test_it_is_the_original_but_for_what_the_table_says(address: Callable[[int], str]) -> None:
    rows = [
        *compare_members("envpool.", ours, envpool, REASONS, [*envpool.__all__, "__version__"]),
        *compare_members("envpool.atari.", our_atari, envpool.atari, REASONS, envpool.atari.__all__),
        compare("envpool.atari.registration.atari_game_list", our_games.atari_game_list == atari_game_list, REASONS),
        compare("list_all_envs(): all of Atari", atari_tasks() <= set(ours.list_all_envs()), REASONS),
        *specs(),
        *environments(address),
    ]
    for text, call in ERRORS.items():
        theirs, mine = (error(module, call, at) for module, at in ((envpool, None), (ours, address)))
        rows.append(compare(f"{text}: {type(theirs).__name__}", isinstance(mine, type(theirs)), REASONS))
    for text, behave in BEHAVIOURS.items():
        with maker(envpool) as make:
            expected = behave(make)
        with maker(ours, address) as make:
            rows.append(compare(text, behave(make) == expected, REASONS))
    check_table("envpool", [*rows, *(compare(text, False, UNTRIED) for text in UNTRIED)])


def specs() -> list[Row]:
    """Options with their defaults, arrays, spaces and dm_env's specs."""
    config, original = (module.AtariEnvSpec.gen_config()._asdict() for module in (our_atari, envpool.atari))
    rows = [compare(f"option {name}={original[name]!r}", config[name] == original[name], REASONS) for name in original]
    spec, other = [module.make_spec("Pong-v5") for module in (ours, envpool)]
    rows += compare_members("AtariEnvSpec.", spec, other, REASONS)
    for kind in ("state_array_spec", "action_array_spec"):
        arrays, others = cast("list[dict[str, Any]]", [getattr(each, kind) for each in (spec, other)])
        for name, array in others.items():
            same = name in arrays and arrays[name].__dict__ == array.__dict__
            rows.append(compare(f"{name}: dtype, shape and bounds", same, REASONS))
    for name in ("observation_space", "action_space", "gymnasium_observation_space", "gymnasium_action_space"):
        rows.append(compare(f"value of {name}", getattr(spec, name) == getattr(other, name), REASONS))
    rows.append(compare("value of action_spec()", spec.action_spec() == other.action_spec(), REASONS))
    told, others = spec.observation_spec(), other.observation_spec()
    rows += [
        compare(f"observation_spec().{name}", getattr(told, name, None) == getattr(others, name), REASONS)
        for name in others._fields
    ]
    return rows


def environments(address: Callable[[int], str]) -> list[Row]:
    """The members of the interfaces, and the keys of an info."""
    with maker(envpool) as theirs, maker(ours, address) as mine:
        env, other = mine(), theirs()
        rows = compare_members("GymnasiumEnvPool.", env, other, REASONS)
        told, others = (each.step(np.zeros(1, int))[-1] for each in (env, other))
        assert told.keys() - others.keys() == {"pluriverse"}
        rows += [
            compare(f"info of a step: {name}", kinds(told.get(name)) == kinds(others[name]), REASONS) for name in others
        ]
        return rows + compare_members("DMEnvPool.", mine(kind="dm"), theirs(kind="dm"), REASONS)


def error(module: Any, call: Callable[[Any, Make], Any], address: Callable[[int], str] | None) -> BaseException:
    with maker(module, address) as make, pytest.raises((Exception,)) as caught:
        call(module, make)
    return caught.value


def atari_tasks() -> set[str]:
    """EnvPool's names of Atari games."""
    entries = envpool.registration.registry.specs.items()
    return {name for name, (path, _, _) in entries if path == "envpool.atari"}


def opened(env: Any) -> Any:
    env.reset()
    return env


def elapsed(info: Mapping[str, Any]) -> list[int]:
    return info["elapsed_step"].tolist()


def row(state: tuple[Any, ...]) -> list[Any]:
    _, rewards, terminated, truncated, info = state
    return [elapsed(info), *(each.tolist() for each in (rewards, terminated, truncated))]


def kinds(value: Any) -> Any:
    """Types, dtypes and shapes, all the way down."""
    if isinstance(value, dict):
        return {name: kinds(each) for name, each in cast("dict[str, Any]", value).items()}
    return type(value).__name__, str(getattr(value, "dtype", "")), np.shape(value)
