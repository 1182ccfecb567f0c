"""Servers that hand our environments to agents in the forms that they speak: MCP, OpenEnv."""
