"""Nodes: one run on every node of an allocation, then on pairs of them, and the folder that they stand in."""
