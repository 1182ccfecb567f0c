"""``python -m pluriverse_server``: the same as the command ``pluriverse-server``."""

from .cli import main

main()
