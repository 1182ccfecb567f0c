"""The tables of gym-core, which those of the wrappers are compared with."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "runtimes" / "gym-core"))
