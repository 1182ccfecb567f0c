"""What the commands share on a terminal: options, the greeting, the status line, exit statuses."""
