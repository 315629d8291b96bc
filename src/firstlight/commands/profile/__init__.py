"""Profile: record with a preloaded library how much each rank of an MPI program sends to which."""

RANKS = "ranks"
"""The folder with the records of the ranks, in the folder of a profile."""
REFUSED = ".refused"
"""A rank creates this file if its MPI library is not the one that the profiler was built for."""
