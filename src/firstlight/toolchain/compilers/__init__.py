"""Compilers: one probe per file, each `probe(host) -> Found` of Compiler."""
