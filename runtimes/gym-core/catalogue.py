"""Prints every environment as a JSON list."""

from __future__ import annotations

import json
import sys

from gym_core.catalogue import entries

if __name__ == "__main__":
    json.dump([entry.as_json() for entry in entries()], sys.stdout)
    sys.stdout.write("\n")
