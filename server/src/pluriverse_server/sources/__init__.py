"""Where rewards come from: a program's ``reports``, a ``page``, the ``screen``, or the ``program``'s files and memory.

``screen`` and ``program`` have a module for each kind of source; ``rules`` makes rewards and ends of their readings.
"""
