"""The program that paints the metadata block above programs that can't, and keeps a browser's own keys from it.

``python -m pluriverse_server.overlay`` is an X client of its own, which ``remote.overlay`` starts before the program.
"""
