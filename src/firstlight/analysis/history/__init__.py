"""History: many runs of one machine in the order of time, what moved when, and what else changed then."""
