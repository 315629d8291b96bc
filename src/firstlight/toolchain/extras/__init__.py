"""Things that are only reported when they are missing: one probe a file, each `probe(host) -> Found` of nothing."""
