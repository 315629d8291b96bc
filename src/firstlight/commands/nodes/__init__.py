"""Nodes: run on every node of an allocation, then on pairs of nodes, and store the runs in one folder."""
