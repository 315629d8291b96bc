"""`history`: show the runs of one machine over time."""
