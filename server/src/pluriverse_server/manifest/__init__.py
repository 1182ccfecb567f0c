"""``runtime.toml``: what a runtime is, validated into plain data."""
