"""Recordings of remotes (``pluriverse-server record``) as datasets and films."""
