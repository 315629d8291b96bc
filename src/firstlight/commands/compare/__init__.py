"""`compare`: compare two runs, or several machines."""
