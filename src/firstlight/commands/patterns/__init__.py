"""Patterns: generate the communication of applications, for any number of processes."""
