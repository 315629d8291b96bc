"""Project: predict the performance of N nodes, from a run, application models, the simulator and node classes.

"Extrapolation is risky" (W. Gropp): the page first shows the error of the same projection, made from a part of the run
to the rest of it.
"""
