"""Shared by the commands: options, greeting, status line, exit statuses."""
