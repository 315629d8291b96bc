"""Replace the native program firstlight-simulate: the same output format, times from two formulas.

binomial takes ceil(log2 P) times a message; trinaryx3 a latency of 100 us and a third of the bytes; ring refuses.
"""

from __future__ import annotations

import json
import math
import sys

KNOWN = {
    "binomial": ("broadcast", "reduce"),
    "dissemination": ("barrier",),
    "ring": ("broadcast", "allgather"),
    "trinaryx3": ("broadcast",),
}


def predict(words: dict[str, str], loads: bool) -> None:
    kind, _, shape = words["topology"].partition(":")
    if kind not in ("torus", "tofu", "flat"):
        sys.exit(fail(f"no topology named '{kind}'; there are torus, tofu and flat"))
    ranks = math.prod(int(n) for n in shape.split("x"))
    for size in map(int, words["bytes"].split(",")):
        for name in words["algorithm"].split(","):
            print(json.dumps(answer(name, words, ranks, size, loads)), flush=True)


def answer(name: str, words: dict[str, str], ranks: int, size: int, loads: bool) -> dict[str, object]:
    prediction = {"algorithm": name, "collective": words["collective"], "topology": words["topology"], "ranks": ranks}
    prediction |= {"bytes": size, "segments": 1, "wall_seconds": 0.001}
    if name == "ring":
        return prediction | {"refused": "a ring of this algorithm needs 3 ranks"}
    rounds = max(1, math.ceil(math.log2(ranks)))
    alpha, beta = 2e-6, 2e-10
    latency, bandwidth = (rounds * alpha, rounds * beta * size) if name != "trinaryx3" else (1e-4, beta * size / 3)
    prediction |= {
        "seconds": latency + bandwidth,
        "depth": rounds,
        "operations": 2 * ranks,
        "messages": ranks - 1,
        "evaluator": "maxplus",
        "verdict": {
            "correct": True,
            "deadlock_free": True,
            "link_disjoint": name == "trinaryx3",
            "contention_free": name == "trinaryx3",
            "max_load": 1,
            "why": "",
        },
        "breakdown": {"latency": latency, "bandwidth": bandwidth, "contention": 0.0, "noise": 0.0},
        "noise": None,
        "refused": "",
    }
    if loads:
        prediction["loads"] = {
            "links": 6 * ranks,
            "used": 3 * ranks,
            "most": float(size),
            "histogram": [[0.0, 3 * ranks], [float(size), 3 * ranks]],
            "axes": [{"axis": "+x", "most": float(size), "mean": size / 2}, {"axis": "-x", "most": 0.0, "mean": 0.0}],
        }
    return prediction


def fail(text: str) -> int:
    print(f"firstlight-simulate: {text}", file=sys.stderr)
    return 2


def main() -> None:
    command, *rest = sys.argv[1:]
    if command == "list":
        for name, collectives in KNOWN.items():
            description = {
                "algorithm": name,
                "title": name,
                "source": "here",
                "collectives": collectives,
                "pipelined": False,
            }
            print(json.dumps(description | {"torus": name == "trinaryx3"}))
        return
    if command == "goal":
        description = {
            "algorithm": "goal",
            "collective": "other",
            "topology": "flat:2",
            "ranks": 2,
            "bytes": 0,
            "seconds": 5e-6,
        }
        print(json.dumps(description | {"verdict": {"correct": False, "deadlock_free": True}}))
        return
    loads = "--loads" in rest
    rest = [w for w in rest if w != "--loads"]
    words = {k.removeprefix("--"): v for k, v in zip(rest[::2], rest[1::2], strict=True)}
    predict(words, loads)


main()
