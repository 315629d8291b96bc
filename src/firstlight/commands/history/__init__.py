"""`history`: the runs of one machine over time."""
