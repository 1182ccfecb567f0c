"""Pages in lockstep as agents have them, in a whole remote."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, Literal
from urllib.request import urlopen

from pluriverse.adapters.gymnasium import PluriverseEnv
from support.remotes import MachineRemote, on_machine

METEORS = "internet.Meteors-v0"

# Meteors' world is this large.
SHAPE = (480, 480, 3)


@contextmanager
def connected(remote: MachineRemote, clock: Literal["realtime", "lockstep"]) -> Generator[PluriverseEnv]:
    address = remote.address
    env = PluriverseEnv(METEORS, remotes=address, clock=clock)
    try:
        yield env
    finally:
        env.close()


def played(env: PluriverseEnv, seed: int, steps: int = 60) -> list[tuple[bytes, float]]:
    """Pictures and rewards of an episode's first steps."""
    observation, _ = env.reset(seed=seed)
    seen = [(picture(observation), 0.0)]
    for step in range(steps):
        observation, reward, terminated, truncated, _ = env.step(step // 5 % 3)
        seen.append((picture(observation), float(reward)))
        if terminated or truncated:
            break
    return seen


def frames_drawn(remote: MachineRemote) -> float:
    """How many the remote has counted."""
    with urlopen(f"http://127.0.0.1:{remote.port}/metrics") as answer:
        (line,) = [each for each in answer.read().decode().splitlines() if each.startswith("pluriverse_frames_total ")]
    return float(line.split()[1])


def picture(observation: Any) -> bytes:
    assert observation.shape == SHAPE
    return observation.tobytes()


def test_same_seed_and_actions_give_the_same_pixels_also_after_real_time() -> None:
    with on_machine(runtime="internet") as remote:
        with connected(remote, "lockstep") as env:
            first, other, again = played(env, 3), played(env, 4), played(env, 3)
            # The daemon knows from the frames that the agent isn't idle.
            assert frames_drawn(remote) > 60
        with connected(remote, "realtime") as env:
            env.reset()
            observation, *_ = env.step(0)
            assert observation.any()
        with connected(remote, "lockstep") as env:
            second = played(env, 3)
    assert first == again == second
    assert first != other
    assert len({pixels for pixels, _ in first}) > 30
