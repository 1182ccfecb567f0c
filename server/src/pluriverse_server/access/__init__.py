"""Who may connect, and how often a password may be guessed. Pure: times are passed in."""
