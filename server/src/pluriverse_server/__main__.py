"""``python -m pluriverse_server``: the same as the command ``pluriverse-server``."""

from .console.cli import main

main()
