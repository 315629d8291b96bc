"""`python -I -S .../observer NAME=VALUE... --program W.V --external JSON --output FILE [-- LAUNCHER...]`."""

import os.path
import sys
from importlib import import_module

if __name__ == "__main__":
    # As a package of its own: firstlight's other imports are slower than all of this.
    sys.path[:1] = []
    sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # noqa: PTH100, PTH120
    sys.exit(import_module("observer.program").main(sys.argv[1:]))
