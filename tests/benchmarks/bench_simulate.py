"""Compare the operations per second of firstlight-simulate and LogGOPSim on the same schedules. This is a script, not a
test:

    python tests/benchmarks/bench_simulate.py FIRSTLIGHT_SIMULATE LOGGOPSIM TXT2BIN [ROUNDS]

Programs run alternately. The result is the least CPU time (user and system) of a whole process, because other work on
the machine disturbs it least. LogGOPSim reads its own binary format; the conversion of GOAL into that format is timed
separately. firstlight-simulate reads the text itself, proves that messages match and that no rank waits for ever, and
evaluates it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

MACHINE = {"L": 2500, "o": 1500, "g": 1000, "G": 6, "O": 0, "S": 65535}
BARRIER = ("--collective", "barrier", "--algorithm", "dissemination", "--topology", "flat:16384")
DOUBLING = ("--collective", "allreduce", "--algorithm", "recursive_doubling", "--topology", "flat:16384")
BINOMIAL = ("--collective", "broadcast", "--algorithm", "binomial", "--topology", "flat:65536", "--bytes", "1048576")
TREES = ("--collective", "broadcast", "--algorithm", "trinaryx3", "--topology", "tofu:6x4x4", "--bytes", "10000000")
CASES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "dissemination, 16384 ranks, one stands for all": (BARRIER, ()),
    "dissemination, 16384 ranks, each evaluated": (BARRIER, ("--every-rank",)),
    "recursive doubling, 16384 ranks, each evaluated": (
        (*DOUBLING, "--bytes", "8192", "--segments", "1"),
        ("--every-rank",),
    ),
    "binomial tree, 65536 ranks, no trains": ((*BINOMIAL, "--segments", "1"), ()),
    "Trinaryx3, 1152 ranks, trains of 200": ((*TREES, "--segments", "200"), ()),
}
"""Arguments that describe the schedule, and arguments that only the prediction needs."""


def timed(command: list[str]) -> tuple[float, str]:
    """Processor seconds of a whole process, and what it printed."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        if status != 0:
            raise SystemExit(f"{command[0]} failed")
        out.seek(0)
        return usage.ru_utime + usage.ru_stime, out.read().decode()


def main(ours: str, theirs: str, txt2bin: str, rounds: str = "5") -> None:
    machine = ",".join(f"{k}={v}" for k, v in MACHINE.items())
    parameters = [f"--LogGOPS_{k}={v}" for k, v in MACHINE.items()]
    for name, (schedule, more) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            goal, binary = Path(folder, "a.goal"), Path(folder, "a.bin")
            subprocess.run([ours, "goal", "export", *schedule, "--output", goal], check=True)
            commands = {
                "schedule": [ours, "predict", *schedule, *more, "--machine", machine, "--unchecked"],
                "text": [ours, "goal", "predict", str(goal), "--machine", machine],
                "conversion": [txt2bin, "-i", str(goal), "-o", str(binary)],
                "binary": [theirs, "-f", str(binary), "-b", *parameters],
            }
            best = dict.fromkeys(commands, 1e9)
            output = dict.fromkeys(commands, "")
            for _ in range(int(rounds)):
                for what, command in commands.items():
                    seconds, output[what] = timed(command)
                    best[what] = min(best[what], seconds)
            answer, text = (json.loads(output[what]) for what in ("schedule", "text"))
            size = goal.stat().st_size / 1e6
        count = answer["operations"]
        print(f"{name}: {count} operations by {answer['evaluator']}, {size:.1f} MB of GOAL by {text['evaluator']}")
        for what, program in (
            ("schedule", "firstlight-simulate, its own schedule"),
            ("text", "firstlight-simulate, GOAL text, checked"),
            ("conversion", "txt2bin, GOAL text to binary"),
            ("binary", "LogGOPSim, binary"),
        ):
            print(f"  {program:40} {best[what]:8.4f} s {count / best[what] / 1e6:8.2f} M operations/s")
        print(f"  LogGOPSim's binary run / our own schedule         {best['binary'] / best['schedule']:6.2f}")
        print(f"  LogGOPSim's binary run / our text, checked        {best['binary'] / best['text']:6.2f}")
        whole = best["binary"] + best["conversion"]
        print(f"  conversion and binary run / our text, checked     {whole / best['text']:6.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
