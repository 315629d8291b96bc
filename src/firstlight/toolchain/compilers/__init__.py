"""Compilers: one probe a file, each `probe(host) -> Found` of Compiler."""
