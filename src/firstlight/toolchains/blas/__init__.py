"""BLAS libraries: one probe a file, each `probe(host) -> Found` of Blas."""
