"""The server on the rewarder port: WebSocket rewarder, health, metrics, viewer."""
