"""Project: what N nodes would give, from a run, the applications' own models, the simulator and tables of node classes.

"Extrapolation is risky" (W. Gropp): the error of the same projection, made from a part of the run to the rest of it,
comes first.
"""
