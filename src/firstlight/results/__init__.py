"""Results: the records that programs write, and the storage of runs."""
