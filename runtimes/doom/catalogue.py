"""Prints every environment as a JSON list."""

from __future__ import annotations

import json
import sys

from doom.catalogue import entries

if __name__ == "__main__":
    sys.stdout.write(json.dumps([entry.as_json() for entry in entries()], separators=(",", ":")) + "\n")
