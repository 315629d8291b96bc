"""Compilers for accelerators: one file each, with `probe(host, compilers) -> Cuda | Absent`."""
