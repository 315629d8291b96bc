"""The commands of firstlight: each is one file or one folder here."""
