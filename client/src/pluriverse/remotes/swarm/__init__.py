"""Remotes on a Docker Swarm."""

from .engine import SwarmEngine

__all__ = ["SwarmEngine"]
