"""The v0 rewarder protocol."""
