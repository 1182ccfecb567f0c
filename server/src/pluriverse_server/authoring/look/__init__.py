"""Looks at a program without any runtime.toml, and writes one of what is chosen on its page."""
