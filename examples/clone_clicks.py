"""Behaviour cloning: from a script's recording, by export and Minari, to a network that clicks what it sees.

pip install "pluriverse[gymnasium,minari]" pluriverse-server pluriverse-authoring pluriverse-runtime-world-of-bits torch
python examples/clone_clicks.py --teach clicks.plrec
pluriverse export clicks.plrec --minari clicks/script-v0 --fps 10 --actions pointer
python examples/clone_clicks.py --learn clicks/script-v0 --save mine.pt --curve curve.json
python examples/clone_clicks.py --load mine.pt --play 100    # in lockstep, beside the script and clicks at random

The page shows a circle. A click on its centre draws a blue dot there, and a click on "Submit" ends the episode. The
centre earns 1, a place beside it less, and one outside of the circle -1. The script finds the circle by its colour; the
network gets pictures and the places of clicks alone. A person's recording, by `pluriverse-server record`, does as well.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import gymnasium
import numpy as np
import pluriverse  # noqa: F401  (it registers the environments)
import torch
from pluriverse.runtimes import runtime_folder
from torch import nn

TASK: Final = "wob.mini.CircleCenterNoDecay-v0"
# Ten steps a second.
FRAME_SKIP, FPS = 6, 10
# Recordings show the pointer, which would hide the dot.
ASIDE: Final = (159, 209)
# When an episode is given up.
MOST_CLICKS: Final = 4
# What the network halves twice: where it looks is each fourth pixel.
CELL: Final = 4
EPOCHS, BATCH, LEARNING_RATE = 30, 16, 2e-3
torch.set_num_threads(1)  # two wait for each other longer than they compute, where others need the processors, too

Picture = Any
Policy = Callable[[Picture], tuple[float, float]]


class Clone(nn.Module):
    """Says of pictures, uint8 (n, height, width, 3), how likely a click is in each cell, as logits (n, cells)."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Conv2d(3, 16, 5, 2, 2), nn.ReLU(), nn.Conv2d(16, 32, 5, 2, 2), nn.ReLU()]
        # Until a cell sees all of a circle, and whether there is a dot.
        for dilation in (1, 2, 4, 8):
            layers += [nn.Conv2d(32, 32, 3, 1, dilation, dilation), nn.ReLU()]
        self.body = nn.Sequential(*layers, nn.Conv2d(32, 1, 1))

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        """Return the logits."""
        return self.body(1 - pictures.permute(0, 3, 1, 2).float() / 255).flatten(1)

    @torch.inference_mode()
    def click(self, picture: Picture) -> tuple[float, float]:
        """Return the likeliest place, x and y in pixels: the mean about the likeliest cell."""
        wide = -(-picture.shape[1] // CELL)
        likely = self(torch.from_numpy(picture[None]))[0].softmax(-1).reshape(-1, wide).numpy()
        y, x = np.unravel_index(likely.argmax(), likely.shape)
        top, left = max(y - 1, 0), max(x - 1, 0)
        near = likely[top : y + 2, left : x + 2]
        near = near / near.sum()
        across, down = np.arange(left, left + near.shape[1]), np.arange(top, top + near.shape[0])
        return CELL * float(near.sum(0) @ across), CELL * float(near.sum(1) @ down)


def script(picture: Picture) -> tuple[float, float]:
    """Return the centre of the circle, or of the button once the blue dot is there."""
    red, green, blue = np.moveaxis(picture[50:180].astype(int), -1, 0)
    if ((blue > 200) & (red < 80) & (green < 80)).any():
        return 62.0, 195.0
    y, x = np.nonzero(red + green + blue < 200)
    return (x.min() + x.max()) / 2, (y.min() + y.max()) / 2 + 50


def play(env: gymnasium.Env[Any, Any], policy: Policy, seed: int | None) -> float:
    """Play an episode, click by click; return what it earned."""
    observation, _ = env.reset(seed=seed)
    for _ in range(MOST_CLICKS):
        # Two steps until what the last click did is on the screen, also where time goes on.
        for _ in range(2):
            observation, *_ = env.step(_action(env, ASIDE, 0))
        picture = _picture(observation)
        place = np.clip(np.round(policy(picture)), 0, ASIDE).astype(int)
        for pressed in (1, 0):
            observation, reward, terminated, truncated, _ = env.step(_action(env, place, pressed))
            if terminated or truncated:
                return float(reward)
    return -1.0


def _picture(observation: Any) -> Picture:
    return observation["vision"] if isinstance(observation, dict) else observation


def _action(env: gymnasium.Env[Any, Any], place: Any, pressed: int) -> dict[str, Any]:
    spaces: Any = env.action_space
    idle = {name: np.zeros_like(space.sample()) for name, space in spaces.items()}
    return idle | {"pointer": np.array(place), "buttons": np.array([pressed, 0, 0], np.int8)}


def teach(path: Path, seconds: float) -> None:
    """Record a remote that the script plays in real time."""
    record = [sys.executable, "-m", "pluriverse_server", "record", str(runtime_folder("world-of-bits")), TASK]
    how = ["--output", str(path), "--password", "script"]
    with subprocess.Popen([*record, *how], stdout=subprocess.PIPE, text=True) as recording:
        assert recording.stdout is not None
        address = next(line.split()[1] for line in recording.stdout if line.startswith("  agents"))
        env = gymnasium.make(f"pluriverse/{TASK}", remotes=address, fps=FPS)
        earned: list[float] = []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            earned.append(play(env, script, None))
            print(f"{len(earned)} episodes, mean reward {np.mean(earned):.2f}", flush=True)
        env.close()
        # As Ctrl-C, which finishes the file.
        recording.send_signal(signal.SIGINT)


def clicks(dataset_id: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a Minari dataset's pictures in which a click begins, and where: x and y in pixels."""
    import minari

    pictures: list[Picture] = []
    places: list[Any] = []
    for episode in minari.load_dataset(dataset_id):
        actions: Any = episode.actions
        pressed = np.array(actions["buttons"])[:, 0]
        begins = np.flatnonzero(np.diff(pressed, prepend=0) > 0)
        pictures.extend(np.array(episode.observations)[begins])
        places.extend(np.array(actions["pointer"])[begins])
    return torch.from_numpy(np.array(pictures)), torch.from_numpy(np.array(places)).float()


def learn(clone: Clone, pictures: torch.Tensor, places: torch.Tensor, epochs: int) -> list[dict[str, float]]:
    """Fit the likelihood of each click, shared among the four cells around it; return the curve."""
    optimizer = torch.optim.Adam(clone.parameters(), LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    high, wide = (-(-side // CELL) for side in pictures.shape[1:3])
    cells = places / CELL
    across = (1 - (cells[:, :1] - torch.arange(wide)).abs()).clamp(min=0)
    down = (1 - (cells[:, 1:] - torch.arange(high)).abs()).clamp(min=0)
    shares = (down[:, :, None] * across[:, None, :]).flatten(1)
    curve: list[dict[str, float]] = []
    for epoch in range(1, epochs + 1):
        losses: list[float] = []
        for rows in torch.randperm(len(pictures)).split(BATCH):
            loss = -(shares[rows] * clone(pictures[rows]).log_softmax(-1)).sum(-1).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(float(loss))
        schedule.step()
        curve.append({"epochs": epoch, "loss": round(float(np.mean(losses)), 4)})
        print(f"epoch {epoch:3}  loss {curve[-1]['loss']:.3f}", flush=True)
    return curve


def compare(clone: Clone, episodes: int, seed: int) -> None:
    """Say what clone, script and chance earn in the same episodes."""
    chance = np.random.default_rng(seed)
    policies: dict[str, Policy] = {
        "the clone": clone.click,
        "the script": script,
        "at random": lambda picture: tuple(chance.random(2) * (picture.shape[1], picture.shape[0])),
    }
    env = gymnasium.make(f"pluriverse/{TASK}", remotes="local:1", clock="lockstep", frame_skip=FRAME_SKIP)
    for name, policy in policies.items():
        earned = np.array([play(env, policy, seed + number) for number in range(episodes)])
        error = earned.std(ddof=1) / episodes**0.5
        print(f"{name}: {earned.mean():.3f} in the mean of {episodes} episodes, standard error {error:.3f}")
    env.close()


def main() -> None:
    """Record, learn or play."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--teach", type=Path, help="a file for a recording of the script")
    parser.add_argument("--seconds", type=float, default=240, help="how long to record; default: 240")
    parser.add_argument("--learn", help="a Minari dataset to learn from")
    parser.add_argument("--play", type=int, default=0, help="play so many episodes each")
    parser.add_argument("--load", type=Path, help="what was saved, to begin with")
    parser.add_argument("--save", type=Path, help="a file for what was learnt")
    parser.add_argument("--curve", type=Path, help="a file for the curve, as JSON")
    parser.add_argument("--epochs", type=int, default=EPOCHS, help=f"default: {EPOCHS}")
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    given = parser.parse_args()
    torch.manual_seed(given.seed)
    clone = Clone()
    if given.load is not None:
        clone.load_state_dict(torch.load(given.load, weights_only=True))
    if given.teach is not None:
        teach(given.teach, given.seconds)
    if given.learn is not None:
        curve = learn(clone, *clicks(given.learn), given.epochs)
        if given.curve is not None:
            document = {"what": "clone_clicks", "seed": given.seed, "points": curve}
            given.curve.write_text(json.dumps(document) + "\n", encoding="utf-8")
        if given.save is not None:
            torch.save({name: weight.half() for name, weight in clone.state_dict().items()}, given.save)
    if given.play:
        compare(clone, given.play, given.seed)


if __name__ == "__main__":
    main()
