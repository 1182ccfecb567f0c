"""Recordings: what a remote shows, what is said of its episodes, and who presses what, into a file; and out of it."""
