"""Compilers for accelerators: one file each, whose `probe(host, compilers)` returns what works or why it does not."""
