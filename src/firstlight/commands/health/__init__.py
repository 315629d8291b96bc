"""Health: measure a node for a minute, and compare it with its limits, its accepted run and similar machines."""
