"""Recordings of remotes (``pluriverse-server record``) as demonstrations: datasets and films."""
