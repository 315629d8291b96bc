"""Compilers for accelerators: one file each, whose `probe(host, compilers)` tells what works or why it does not."""
