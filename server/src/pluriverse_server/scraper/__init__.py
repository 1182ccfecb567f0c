"""A scraped program's process: starts the program, leads it to each episode, reads its sources, and reports.

The daemon runs ``python -m pluriverse_server.scraper`` as if it were the program, so that nothing which a source or a
program does can stall it: a scraper that hangs is found by its silence, and replaced.
"""
