"""Process: run what answers, watch over what runs, and end either with all that it started.

The guard loads this room alone, with nothing but the standard library: no module of it imports what lies outside, but
for `guard`, which is the other side.
"""
