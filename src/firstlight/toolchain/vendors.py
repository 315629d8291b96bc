"""Compilers of vendors: the facts in `vendors.toml` about those that are neither GCC nor LLVM's own clang."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from firstlight.core import reading
from firstlight.toolchain import FlagSet
from firstlight.toolchain.flag_sets import FLAG_SETS, OPENMP

Spellings = tuple[tuple[str, ...], ...]
OTHER = "other"
"""The family of an unknown compiler: only base flags are used."""


class Vendor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The compilers of one vendor; see the head of the file."""

    label: str
    says: str
    cxx: tuple[str, ...]
    native: Spellings
    fast: Spellings
    openmp: Spellings
    fortran: tuple[str, ...] = ()
    strict: tuple[str, ...] = ()
    always: tuple[str, ...] = ()


@cache
def every() -> Mapping[str, Vendor]:
    """Return all vendors by the name of the family."""
    return reading.toml(Path(__file__).with_name("vendors.toml").read_bytes(), dict[str, Vendor])


def parse_version(printed: str) -> tuple[str, str] | None:
    """Return (family, version) from the output of `--version`, None for a compiler that is none of these."""
    for line in printed.splitlines():
        for name, vendor in every().items():
            if match := re.match(vendor.says, line.strip()):
                return name, match[1]
    return None


def flags(family: str) -> Mapping[FlagSet, Spellings]:
    """Return the flag sets to try with compilers of a family."""
    if family == OTHER:
        return {"base": FLAG_SETS["base"]}
    vendor = every().get(family)
    if vendor is None:
        return FLAG_SETS
    base = tuple((*plain, *vendor.strict) for plain in FLAG_SETS["base"])
    sets: dict[FlagSet, Spellings] = {"base": base, "native": vendor.native, "fast": vendor.fast}
    return {name: tuple((*vendor.always, *words) for words in some) for name, some in sets.items()}


def openmp(family: str) -> Spellings:
    """Return the flags that may enable OpenMP."""
    vendor = every().get(family)
    return OPENMP if vendor is None else vendor.openmp


def strict(family: str) -> tuple[str, ...]:
    """Return the flags that judges and harness need in addition to -O2 so that arithmetic is as it is written."""
    vendor = every().get(family)
    return () if vendor is None else (*vendor.always, *vendor.strict)
