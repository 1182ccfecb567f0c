"""What listens on the rewarder port: WebSocket rewarder, health, metrics, viewer."""
