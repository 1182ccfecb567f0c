"""X11 for all of the server, through python-xlib: connections, raw input, and pixels in shared memory."""
