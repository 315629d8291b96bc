"""The observer: starts an external command, and writes the lines that a program of firstlight would write itself.

`python -I -S FOLDER` starts it. A launch waits for it, so it imports as little as it can. It measures the external
command alone: the clock runs from the call that starts it to its end, as the kernel reports it.
"""

import os.path

FOLDER = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 (pathlib takes as long as all the rest)
