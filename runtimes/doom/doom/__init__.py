"""The doom runtime: ViZDoom in real time, played with ordinary keys."""
