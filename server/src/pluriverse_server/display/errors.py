"""Errors of the display; one that doesn't start raises ``process.StartError``."""

from __future__ import annotations


class DisplayLost(Exception):
    """The X server is gone, refuses, or doesn't answer; the message says which."""
