"""Runtimes and libraries on top of an MPI library: one file each, named after what it gives (shmem, caf, hypre, petsc).

Each has `probe(host, mpi, compilers) -> Linking | Absent`.
"""
