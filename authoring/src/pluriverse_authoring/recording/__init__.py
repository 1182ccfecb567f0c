"""Recordings: a remote's pictures, reports and input events, written into a file and read from it."""
