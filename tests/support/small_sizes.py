"""Small sizes: the arguments with which tests launch a program, chosen from the suites of its workload."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from firstlight.model.catalogue import Selection, Value, Workload

SMALL = 1 << 20
"""Parameter values up to this are run in tests: every path of a sweep, without waiting for memory."""
SMALL_MEANT_RIGHT = 1 << 18
"""The same where every check is to hold: larger ones take half of a launch's processor time, and no other path; it is
beyond the size from which MPI libraries on a node wait for the receiver. What is to fail keeps the larger ones."""
STANDS_FOR: dict[tuple[str, str], dict[Value, Value]] = {
    ("checkpoint", "n"): {64: 32, 256: 32},
    ("fdtd2d", "n"): dict.fromkeys((2048, 4096, 8192, 16384), 250),
    ("fdtd2d", "steps"): {24: 12},  # emulated kernels take turns, the same one is the last
    ("hartree_fock", "molecule"): {"benzene": "formamide"},
    ("lu", "n"): {2000: 200, 4000: 400},
    ("rsdft", "n"): {41: 13, 17: 13},
    ("file_io", "size"): dict.fromkeys((1 << k for k in range(19, 29)), 262144),
    ("file_io", "transfer"): dict.fromkeys((1 << 20, 1 << 24), 16384),
    ("metadata", "files"): {200: 6, 1000: 6},
    ("himeno", "size"): dict.fromkeys(("M", "L", "XL"), "S"),
}
"""Tests use these instead of a suite's values that are large although they are a small number or a letter."""
WATCHED: dict[tuple[str, str], dict[Value, Value]] = {("rsdft", "n"): {13: 9}, ("rsdft", "wanted"): {10: 4}}
"""The same once more for sanitizers: vectors are slow, unoptimised and watched. Both numbers of states fill shells."""
SMALL_REFINED = 1 << 6
"""The same for elements of what is refined: they stand for the coarse mesh and are solved for many times over."""


def selections(workload: Workload, name: str) -> list[Selection]:
    """Return the suite entries that may plan this variant, those with small sizes first; for a broken variant those
    that plan its original, or any variant of its kind.
    """
    plain = name.removeprefix("broken_")
    every = [s for suite in ("quick", "standard", "full") for s in workload.suites.get(suite, [])]
    of_flags = [s for s in workload.suites.get("quick", []) if s.toolchains == ["*"]]  # one case, for the sake of flags
    every.sort(key=lambda s: s in of_flags)
    entries = [s for s in every if all(small(workload, *item) for item in s.parameters.items())] or every
    fitting = [s for s in entries if any(fnmatchcase(plain, p) for p in s.variants)]
    same_kind = [s for s in entries if any(p.split("_")[0] == plain.split("_")[0] for p in s.variants)]
    return fitting or same_kind or entries


def arguments(workload: Workload, name: str, watched: bool = False) -> tuple[str, ...]:
    """key=value,... with the values that are small on every machine, for a variant whose checks are to hold."""
    parameters = _standing(workload, selections(workload, name)[0].parameters)
    return _words(workload, _standing(workload, parameters, WATCHED) if watched else parameters, SMALL_MEANT_RIGHT)


def _standing(
    workload: Workload,
    parameters: Mapping[str, list[Value]],
    stands_for: Mapping[tuple[str, str], Mapping[Value, Value]] = STANDS_FOR,
) -> dict[str, list[Value]]:
    """Return the small replacement of a suite's values. The target of storage is the program's default: its launch's
    TMPDIR.
    """
    parameters = {key: values for key, values in parameters.items() if key != workload.storage}
    known = {key: stands_for.get((workload.name, key), {}) for key in parameters}
    return {key: list(dict.fromkeys(known[key].get(v, v) for v in values)) for key, values in parameters.items()}


def words(workload: Workload, chosen: Selection) -> list[tuple[str, ...]]:
    """key=value,... of this entry, for a variant that is to fail: with the values with which others are to verify, and
    with all that are small on every machine, for a mistake may need them."""
    tried = {_words(workload, _standing(workload, chosen.parameters), SMALL_MEANT_RIGHT): None}
    others = _standing(workload, chosen.parameters, {})
    return list(tried | {_words(workload, others, SMALL): None})


def _words(workload: Workload, parameters: Mapping[str, list[Value]], most: int) -> tuple[str, ...]:
    lists = {key: small(workload, key, values, most) or [1000] for key, values in parameters.items()}
    return tuple(f"{key}={','.join(map(str, values))}" for key, values in lists.items())


def small(workload: Workload, key: str, values: list[Value], most: int = SMALL) -> list[Value]:
    """Those of a parameter's values that are small on every machine; of refinements, so many elements at most."""
    sizes = workload.sizes if workload.sizes and workload.sizes.parameter == key else None
    if sizes and sizes.growth:
        return [v for v in values if isinstance(v, int) and sizes.growth**v <= SMALL_REFINED]
    return [v for v in values if (isinstance(v, int | float) and v <= most) or (isinstance(v, str) and not sizes)]
