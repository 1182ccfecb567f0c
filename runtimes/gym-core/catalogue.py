"""Prints every environment as a JSON list."""

from __future__ import annotations

import json
import sys

from gym_core.catalogue import entries

if __name__ == "__main__":
    # Not dump: it writes bit by bit, in Python.
    sys.stdout.write(json.dumps([entry.as_json() for entry in entries()], separators=(",", ":")) + "\n")
