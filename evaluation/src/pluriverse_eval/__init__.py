"""Measures how well an agent plays a suite of tasks, and what it loses while it thinks."""
