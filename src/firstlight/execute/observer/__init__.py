"""The observer: starts a guest, and writes the lines that a program of firstlight would write of itself.

It is started by its folder with `python -I -S` in the guest's place, so it imports as little as it can: a launch waits
for it. What it measures is the guest alone: the clock runs from the call that starts it to its end as the kernel tells.
"""

import os.path

FOLDER = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 (pathlib takes as long as all the rest)
