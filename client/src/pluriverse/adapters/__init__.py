"""The interfaces that agents already speak, each a translation of one core; import the one that you want.

``gymnasium``, ``dm_env``, ``envpool`` and ``alf`` import nothing of each other, and what they are called after only
when they are imported themselves.
"""
