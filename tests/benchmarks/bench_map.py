"""Measure the time and memory of a search: neighbours of 32 x 48 x 54 ranks on Tofu's 24x18x16, 82,944 nodes.

By hand: python tests/benchmarks/bench_map.py [SECONDS]
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
sys.path.append(str(Path(__file__).resolve().parents[1] / "native"))

from test_map import neighbours

from firstlight.commands.map import program


def main() -> None:
    seconds = sys.argv[1] if len(sys.argv) > 1 else "50"
    built = program.build()
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(neighbours([32, 48, 54]))
        file.flush()
        words = [built, "--pattern", file.name, "--topology", "tofu:24x18x16", "--seconds", seconds]
        begin = time.perf_counter()
        done = subprocess.run(words, capture_output=True, text=True, check=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = json.loads(done.stdout.splitlines()[-1])
    print(f"{time.perf_counter() - begin:.1f} s of wall time, {used.ru_utime:.1f} s of processor time")
    print(f"{used.ru_maxrss / 1024:.0f} MiB at most, of this or of what built the program")
    for side in ("before", "after"):
        print(f"{side}: {answer[side]['maxima']} B on the busiest links, {answer[side]['seconds']:.3g} s simulated")


if __name__ == "__main__":
    main()
