"""Profile: which rank sends how much to which, of any MPI program, recorded by a preloaded library."""

RANKS = "ranks"
"""The folder of the records of the ranks, in the folder of a profile."""
REFUSED = ".refused"
"""Left among the ranks by one whose MPI library is not the one that the profiler was built for."""
