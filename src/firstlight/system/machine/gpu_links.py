"""How the GPUs of a node are linked, as the drivers' tools print it. Damaged output counts as no output."""

from __future__ import annotations

import re
from collections.abc import Iterable

from firstlight.system.machine.parse import number

Links = tuple[tuple[str, ...], ...]
"""The link between each two GPUs: NV12, PIX, SYS, XGMI, PCIE; SELF from a GPU to itself."""

SELF = "X"
MOST = 256
NVIDIA = ("nvidia-smi", "topo", "-m")
AMD = ("rocm-smi", "--showtopo")
_LINK = re.compile(r"NV\d{1,3}|PIX|PXB|PHB|NODE|SYS|SOC|XGMI|PCIE")


def nvidia(text: str) -> Links:
    """Parse a table whose first columns are the GPUs; network cards and affinities follow."""
    return _table(text.splitlines())


def amd(text: str) -> Links:
    """Parse the third of the tables: the first two contain weights and hops."""
    _, _, after = text.partition("Link Type between two GPUs")
    return _table(after.splitlines())


def chosen(links: Links, visible: str | None) -> Links:
    """Return the links of the GPUs that `visible` (CUDA_VISIBLE_DEVICES or its like) lists, in its order; empty if any
    entry is not the number of a GPU.
    """
    if visible is None:
        return links
    numbers = [number(word.strip()) for word in visible.split(",")[:MOST]]
    kept = [n for n in numbers if n is not None and n < len(links)]
    return tuple(tuple(links[a][b] for b in kept) for a in kept) if len(kept) == len(numbers) else ()


def format_links(links: Links) -> str:
    """Return `each two by NV12`, or the number of pairs of each kind; "" if nothing is known, and for a single GPU."""
    pairs = [links[a][b] for a in range(len(links)) for b in range(a)]
    kinds = sorted(set(pairs), key=lambda kind: (-pairs.count(kind), kind))
    if len(kinds) < 2:
        return f"each pair by {kinds[0]}" if kinds else ""
    return ", ".join(f"{pairs.count(kind)} pairs by {kind}" for kind in kinds)


def _table(lines: Iterable[str]) -> Links:
    """Parse rows `GPU0 X NV12 ...` below a head `GPU0 GPU1 ...`; empty unless both directions of each pair agree."""
    words = [line.split() for line in lines]
    start = next((k for k, row in enumerate(words) if _head(row)), None)
    if start is None:
        return ()
    names = [word for word in words[start] if re.fullmatch(r"GPU\d{1,3}", word)][:MOST]
    rows = {row[0]: row[1 : 1 + len(names)] for row in words[start + 1 : start + 1 + 2 * len(names)] if row}
    found = []
    for k, name in enumerate(names):
        row = rows.get(name, [])
        if len(row) != len(names) or row[k] not in (SELF, "0"):
            return ()
        found.append(tuple(SELF if j == k else word for j, word in enumerate(row)))
    pairs = [(found[a][b], found[b][a]) for a in range(len(found)) for b in range(a)]
    return tuple(found) if all(_LINK.fullmatch(one) and one == other for one, other in pairs) else ()


def _head(row: list[str]) -> bool:
    """Return whether a row is `GPU0 GPU1 ...`; with a single GPU, `GPU0` alone or before a word that is not a link."""
    return row[:1] == ["GPU0"] and not (len(row) > 1 and (row[1] in (SELF, "0") or _LINK.fullmatch(row[1])))
