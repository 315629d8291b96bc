"""Capabilities: what a variant requires, from the name of its file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache, lru_cache

import msgspec

from firstlight import ROOT


class Prefix(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file-name prefix requests, what that comes with, and its name."""

    needs: str
    why: str
    implies: str = ""  # another capability: what has this one has that one
    device: bool = False  # its steps run on a GPU
    library: bool = False  # numerical libraries offer it: one program for each that does


@lru_cache(maxsize=4096)
def needs(variant: str) -> tuple[str, ...]:
    """Return what a variant's name requires: prefixes from the left, `mpi_omp_x` both, and `broken_` nothing."""
    rest = variant.removeprefix("broken_")
    found: list[str] = []
    while True:
        head, _, tail = rest.partition("_")
        prefix = prefixes().get(head)
        if prefix is None:
            break
        found += [need for need in (prefix.implies, prefix.needs) if need]
        rest = tail
    return tuple(dict.fromkeys(found))


@cache
def prefixes() -> dict[str, Prefix]:
    """Return the file-name prefixes that require a capability, from native/prefixes.json."""
    table = json.loads((ROOT / "native" / "prefixes.json").read_text(encoding="utf-8"))
    return msgspec.convert(table, dict[str, Prefix])


def on_device(capabilities: Iterable[str]) -> bool:
    """Return whether a variant that needs these runs its steps on a GPU."""
    return not _of_devices().isdisjoint(capabilities)


@cache
def _of_devices() -> frozenset[str]:
    return frozenset(p.needs for p in prefixes().values() if p.device)


def of_library(capabilities: Iterable[str]) -> tuple[str, ...]:
    """Return the capabilities that one numerical library must offer together."""
    offered = {p.needs for p in prefixes().values() if p.library}
    return tuple(need for need in capabilities if need in offered)


def why(capability: str) -> str:
    """Return what a variant with this need requires, in words: `a Fortran compiler`."""
    return next((p.why for p in prefixes().values() if p.needs == capability), capability)
