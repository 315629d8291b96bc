"""Profile: which rank sends how much to which, of any MPI program, recorded by a preloaded library."""

RANKS, PROFILE = "ranks", "profile.json"
REFUSED = ".refused"
"""Left among the ranks by one whose MPI library is not the one that the profiler was built for."""
"""The records of the ranks, and what they say together, below the folder of a profile."""
