"""Runtimes on top of an MPI library: one file each, named after the capability that it gives (shmem, caf).

Each has `probe(host, mpi, compilers) -> Linking | Absent`.
"""
