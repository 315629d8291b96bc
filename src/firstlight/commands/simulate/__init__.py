"""Simulate: predict collectives on networks of any size, from the schedules that also run on MPI.

The native program firstlight-simulate does the work; this package builds it, queries it, and interprets the answers:
sweeps with their cross-over points, parameters fitted to measured messages, predictions compared with measurements.
"""
