"""How a turn begins, what it shows, and waiting for it."""
