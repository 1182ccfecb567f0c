"""What a remote lays over a program that isn't ours: the metadata block on its screen, and a guard before its keys.

It is a program of its own, ``python -m pluriverse_server.overlay``: a client of the X server like the one that it
watches over. The daemon starts it before that one, and ends it with the screen (``display.overlay``).
"""
