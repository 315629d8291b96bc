"""Define the true times of the invented machine: the length of a step of each program at each of its points."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

from firstlight.model.plan import Program
from synthetic_machine import KIB, MIB, load_rate

LENGTHS = (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
MESSAGES = (8, 64, 512, 4 * KIB, 32 * KIB, 256 * KIB, MIB, 4 * MIB)
CHASES = tuple(4 * KIB * 4**k for k in range(8))
OPERATIONS = {"copy": (16, 0), "scale": (16, 1), "add": (24, 1), "triad": (24, 2), "load": (16, 2)}


class Point(NamedTuple):
    """Represent one case as a program would declare it, with the true seconds per step."""

    parameters: dict[str, int | float | str]
    threads: int
    cost: dict[str, float]
    working_set: float
    seconds: float


def _dot(program: Program) -> Iterator[Point]:
    compiler, flag_set = program.toolchain.split("-")
    wide = flag_set != "base"
    rate = {  # flops per second while the data fit into L1
        "serial": 8.4e9 if flag_set == "fast" else 1.77e9,
        "unrolled_8": 15.5e9 if wide else 8.0e9,
        "simd": 17.0e9 if wide else 9.0e9,
        "kahan": 8.2e9 if flag_set == "fast" else 0.43e9,
        "blas_openblas": 16.5e9,
    }[program.variant] * (1.04 if compiler == "clang" and program.variant == "unrolled_8" else 1.0)
    for n in LENGTHS:
        flops, size = 2.0 * n, 16.0 * n
        seconds = max(flops / rate, size / (0.96 * load_rate(size, 1))) + 2e-9
        yield Point({"n": n}, 1, {"flops": flops, "bytes": size}, size, seconds)


def _stream(program: Program) -> Iterator[Point]:
    slow = 0.9 if program.toolchain.endswith("-base") else 1.0
    if program.variant == "omp_nontemporal":
        slow *= 0.7
    for threads, op, n in itertools.product((1, 2), OPERATIONS, (*LENGTHS, 30_000_000)):
        size, flops = OPERATIONS[op]
        working_set = float(n * (size if op != "scale" else 16))
        share = 1.0 if op == "load" else 0.8
        cost = {"bytes": float(size * n), "flops": float(flops * n)}
        yield Point({"op": op, "n": n}, threads, cost, working_set,
                    size * n / (share * slow * load_rate(working_set, threads)))  # fmt: skip


def _peak(program: Program) -> Iterator[Point]:
    lanes = 0.5 if program.toolchain.endswith("-base") else 1.0
    for threads, precision in itertools.product((1, 2), (32, 64)):
        flops = 1e6 * threads
        rate = 52e9 * lanes * threads * (64 / precision)
        yield Point({"precision": precision}, threads, {"flops": flops}, 0.0, flops / rate)


def _latency(program: Program) -> Iterator[Point]:
    for size in CHASES:
        ns = next(t for s, t in ((32 * KIB, 1.6), (512 * KIB, 5.0), (32 * MIB, 16.0), (math.inf, 98.0)) if size <= s)
        yield Point({"bytes": size}, 1, {"accesses": 1000.0}, float(size), 1000 * ns * 1e-9)


def _pingpong(program: Program) -> Iterator[Point]:
    alpha, rate = (0.45e-6, 9.8e9) if program.mpi == "openmpi" else (0.31e-6, 6.1e9)
    if program.variant == "mpi_nonblocking":
        alpha *= 1.15
    for size in MESSAGES:
        cost = {"messages": 1.0, "message_bytes": float(size), "bytes": 2.0 * size}
        yield Point({"bytes": size}, 1, cost, 2.0 * size, alpha + size / rate)


TRUTH = {"dot": _dot, "stream": _stream, "peak": _peak, "latency": _latency, "pingpong": _pingpong}
