"""The process that plays a scraped program or a page: starts it, leads it to each episode, reads it, and reports.

The daemon runs ``python -m pluriverse_server.scraper`` as if it were the program, so that nothing in a source or a
program can stall the daemon: a scraper that hangs is detected by its silence, and replaced.
"""
