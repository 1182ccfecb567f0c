"""The VNC proxy before the VNC server: checks passwords, bounds connections, and carries bytes."""
