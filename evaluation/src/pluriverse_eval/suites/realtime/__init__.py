"""Scripts of the suite ``realtime``: they look at pixels, as every agent has to."""
