"""The gym-core runtime: Atari by ale-py, and what Gymnasium and minigrid can draw, played in real time."""
