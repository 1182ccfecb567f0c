"""The agent's end of pluriverse."""
