"""Random valid inputs of users: Matrix Market files, molecules, GOAL files, values of described parameters."""

from __future__ import annotations

import math
from random import Random

from firstlight.results.description import Description, Parameter

SHAPES = ("empty", "one", "diagonal", "no_diagonal", "row", "column", "arrow", "dense", "sparse", "zeros", "wide")
"""Shapes of a matrix: `one` has one entry, `wide` values of all magnitudes, `zeros` explicit zeros."""


def matrix(random: Random) -> str:
    """Return a square Matrix Market file as in spmv's README: every field and symmetry, odd blanks and line ends."""
    shape, symmetry = random.choice(SHAPES), random.choice(("general", "symmetric", "skew-symmetric"))
    rows = random.choice((1, 1, 2, 3, 5, 7, 8, 9, 16, 33, 64, 100, 257))
    field = random.choice(("real", "integer", "pattern"))
    if symmetry == "skew-symmetric" and field == "pattern":
        field = "real"
    places = {p for p in _places(random, shape, rows) if _stored(*p, symmetry)}
    order = sorted(places)
    random.shuffle(order)
    blank = random.choice((" ", "  ", "\t"))
    lines = [blank.join((str(i), str(j), *_value(random, field, shape))) for i, j in order]
    head = random.choice(("%%MatrixMarket matrix coordinate", "%%MatrixMarket MATRIX Coordinate"))
    comments = ["% a comment", "%"] if random.random() < 0.3 else []
    text = [f"{head} {field} {symmetry}", *comments, f"{rows} {rows} {len(lines)}", *lines]
    if random.random() < 0.3:
        text.insert(random.randint(1, len(text)), "")
    end = random.choice(("\n", "\r\n"))
    return end.join(text) + random.choice(("", end))


def _places(random: Random, shape: str, rows: int) -> set[tuple[int, int]]:
    every = range(1, rows + 1)
    some = {(random.choice(every), random.choice(every)) for _ in range(random.randint(1, 4 * rows))}
    return {
        "empty": set(),
        "one": {(random.choice(every), random.choice(every))},
        "diagonal": {(i, i) for i in every},
        "no_diagonal": {p for p in some if p[0] != p[1]},
        "row": {(rows, j) for j in every},
        "column": {(i, 1) for i in every},
        "arrow": {(i, j) for i in every for j in every if 1 in (i, j) or i == j},
        "dense": {(i, j) for i in every for j in every if rows <= 33},
    }.get(shape, some)


def _stored(row: int, column: int, symmetry: str) -> bool:
    return symmetry == "general" or (row > column if symmetry == "skew-symmetric" else row >= column)


def _value(random: Random, field: str, shape: str) -> tuple[str, ...]:
    if field == "pattern":
        return ()
    if shape == "zeros" and random.random() < 0.5:
        return (random.choice(("0", "-0", "+0")),)
    if field == "integer":
        return (str(random.randint(-9, 9)),)
    if shape == "wide":
        return (f"{random.choice((-1, 1)) * 10 ** random.uniform(-100, 100):.17g}",)
    return (random.choice((f"{random.uniform(-9, 9):.6g}", f"{random.uniform(-9, 9):+.3e}", ".5", "1.")),)


def definite(random: Random) -> str:
    """Return a symmetric file with a dominant diagonal, for solvers."""
    rows = random.choice((1, 2, 3, 5, 8, 33, 100))
    off = {(i, j) for _ in range(2 * rows) for i, j in [(random.randint(1, rows), random.randint(1, rows))] if i > j}
    sums = [0.0] * (rows + 1)
    lines = []
    for i, j in sorted(off):
        value = random.uniform(-1, 1)
        sums[i] += abs(value)
        sums[j] += abs(value)
        lines.append(f"{i} {j} {value:.9g}")
    lines += [f"{i} {i} {sums[i] + random.uniform(0.5, 2):.9g}" for i in range(1, rows + 1)]
    return f"%%MatrixMarket matrix coordinate real symmetric\n{rows} {rows} {len(lines)}\n" + "\n".join(lines) + "\n"


ELECTRONS = {"H": 1, "C": 6, "N": 7, "O": 8}


def molecule(random: Random) -> str:
    """Return an XYZ file of H, C, N and O with an even number of electrons, atoms at least 0.7 angstrom apart."""
    elements = [random.choice(list(ELECTRONS)) for _ in range(random.choice((1, 2, 2, 3, 4, 5)))]
    if sum(map(ELECTRONS.__getitem__, elements)) % 2:
        elements.append("H")
    size = random.choice((1.0, 2.0, 20.0))  # close together, and far apart
    places: list[tuple[float, ...]] = []
    while len(places) < len(elements):
        place = tuple(random.uniform(-size, size) for _ in range(3))
        if all(math.dist(place, other) >= 0.7 for other in places):
            places.append(place)
    lines = [f"{e} " + " ".join(f"{x:.4f}" for x in p) for e, p in zip(elements, places, strict=True)]
    return f"{len(lines)}\nof chance\n" + "\n".join(lines) + "\n"


def goal(random: Random) -> str:
    """Return a GOAL schedule that ends: messages in one order everywhere, ranks in any order or without a program."""
    ranks = random.choice((1, 2, 3, 5, 8, 17))
    body: list[list[str]] = [[] for _ in range(ranks)]
    labels: list[list[str]] = [[] for _ in range(ranks)]

    def add(rank: int, what: str) -> None:
        places = [f" {name} {random.randint(0, 2)}" for name in ("cpu", "nic") if random.random() < 0.2]
        words = what + "".join(p for p in places if "nic" not in p or not what.startswith("calc"))
        if random.random() < 0.2:
            body[rank].append(words)
            return
        label = random.choice(("l{}", "op_{}", "A{}", "send{}")).format(len(labels[rank]))
        body[rank].append(f"{label}: {words}")
        if labels[rank] and random.random() < 0.5:
            body[rank].append(f"{label} {random.choice(('requires', 'irequires'))} {random.choice(labels[rank])}")
        labels[rank].append(label)

    for k in range(random.randint(0, 20)):
        source = random.randrange(ranks)
        if ranks == 1 or random.random() < 0.25:
            add(source, f"calc {random.choice((0, 1, 10**6, random.randint(0, 3000)))}")
            continue
        target = (source + random.randint(1, ranks - 1)) % ranks
        size = random.choice((0, 1, 8, 65535, 65536, 10**7))
        room = size if random.random() < 0.8 else random.randint(0, 10**6)
        tag = f" tag {random.choice((0, k, 2147483647))}" if random.random() < 0.7 else ""
        add(source, f"send {size}b to {target}{tag}")
        add(target, f"recv {room}b from {source}{tag}")
    order = [r for r in random.sample(range(ranks), ranks) if body[r] or random.random() < 0.5]
    lines = ["// of chance", f"num_ranks {ranks}"][random.randint(0, 1) :]
    for rank in order:
        inside = [f"{random.choice(('', '  '))}{x}{random.choice((' /* c */', ' // c', ''))}" for x in body[rank]]
        lines += [f"rank {rank} {{", *inside, "}", ""]
    return random.choice(("\n", "\r\n")).join(lines) + "\n"


SHORT: dict[str, dict[str, tuple[str, ...]]] = {
    "cfd_solver": {"alpha": ("0", "0.5", "0.92")},
    "cfd": {"size": ("free",), "iterations": ("1", "2", "3", "7")},
    "dirac_solver": {"mass": ("0", "100", "2999", "100000")},
    "fem2d": {"level": ("0", "1", "2", "5", "8")},
    "himeno": {"size": ("free", "XS")},
    "hartree_fock": {"molecule": ("h2", "water", "ammonia", "hydrogen_cyanide")},
    "random_access": {"words": ("1024", "1025", "2048", "16384", "65536")},
}
"""For these values of workloads, another value or the default lasts minutes, uses most of the memory, or diverges."""


def values(random: Random, workload: str, described: Description, largest: float) -> dict[str, str]:
    """Return values of some of a program's parameters within their ranges; other tests try large numbers."""
    chosen = {p.name: _within(random, p, largest) for p in described.parameters if random.random() < 0.7}
    return chosen | {name: random.choice(some) for name, some in SHORT.get(workload, {}).items()}


def _within(random: Random, p: Parameter, largest: float) -> str:
    if p.kind in ("choice", "file"):
        return random.choice(p.options)
    assert p.least is not None and p.most is not None
    least, most = p.least, max(p.least, min(p.most, largest))
    if p.kind == "integer":
        near = random.randint(int(least), int(min(most, least + 3)))
        return str(random.choice((int(least), near, random.randint(int(least), int(most)))))
    return repr(random.choice((least, most, random.uniform(least, most))))
