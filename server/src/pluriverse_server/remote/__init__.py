"""One remote: its screen, its program and its environment, kept running together."""
