"""`patterns`: who communicates with whom in applications, generated for any number of processes."""
