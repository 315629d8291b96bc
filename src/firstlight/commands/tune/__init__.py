"""Tune: which algorithm a library should take for which collective, ranks and bytes: measured, written, proved.

What is written is what the library itself reads (Open MPI's rules file, MPICH's selection file) and the decision table
of libfirstlight_coll.so. A choice is kept only when the library with it beats the library without it, launch by launch.
"""
