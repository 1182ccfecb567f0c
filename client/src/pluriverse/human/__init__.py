"""``pluriverse play``: a person plays a remote in a window of their own desktop."""
