"""The agent's end of the v0 rewarder protocol: one background loop for all remotes of an environment."""
