"""Simulate: predictions of collectives on networks of any size, from the schedules that also run on MPI.

The native program firstlight-simulate does the work; this package builds it, asks it, and makes sense of the answers:
sweeps with their cross-over points, parameters fitted from measured messages, predictions against measurements.
"""
