"""Extras that are reported only: one probe per file, each `probe(host) -> Found` of a name with its version."""
