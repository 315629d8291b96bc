"""Tune: find the best algorithm of a library for each collective, number of ranks and size, write it and prove it.

The written file is what the library itself reads (Open MPI's rules file, MPICH's selection file) or the decision table
of libfirstlight_coll.so. A choice is kept only if the library with it is faster than without it, launch by launch.
"""
