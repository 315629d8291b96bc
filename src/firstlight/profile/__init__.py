"""Profile: which rank sends how much to which, of any MPI program, recorded by a preloaded library."""

RANKS, PROFILE = "ranks", "profile.json"
"""The records of the ranks, and what they say together, below the folder of a profile."""
