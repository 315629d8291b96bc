"""Runtimes and libraries on top of an MPI library: one file for each capability (shmem, caf, hypre, petsc).

Each has `probe(host, mpi, compilers) -> Linking | Absent`.
"""
