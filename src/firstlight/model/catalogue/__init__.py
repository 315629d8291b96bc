"""The catalogue: every workload folder found, its suites from workload.toml, its variants from its files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path

import msgspec

from firstlight import ROOT
from firstlight.core import reading
from firstlight.core.errors import UsageError
from firstlight.core.roles import MESSAGE, Ask, Role, defect, defect_of_ask
from firstlight.model.catalogue.capabilities import needs, of_library, on_device, prefixes, why
from firstlight.model.catalogue.declarations import (
    BY_SIZE,
    LARGE,
    PURPOSES,
    Bound,
    Class,
    Declaration,
    Duration,
    Elsewhere,
    ExpectedFailure,
    Flags,
    Plot,
    Provides,
    Purpose,
    Row,
    Selection,
    Sizes,
    Value,
)

__all__ = [
    "BY_SIZE",
    "LARGE",
    "PURPOSES",
    "Bound",
    "Class",
    "Declaration",
    "Duration",
    "Elsewhere",
    "ExpectedFailure",
    "Flags",
    "Plot",
    "Provides",
    "Purpose",
    "Row",
    "Selection",
    "Sizes",
    "Value",
    "Variant",
    "Workload",
    "by_size",
    "device_variant",
    "load",
    "needs",
    "of_library",
    "on_device",
    "prefixes",
    "roots",
    "why",
]

SUITES = ("quick", "standard", "full")
OWN = "own"
"""The chapter of workloads that are not in a chapter's folder: those that users keep with their code."""
NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")


class Variant(msgspec.Struct, frozen=True):
    """One source file: `needs` lists capabilities (openmp, mpi, shmem, fortran, ...) from its prefix and extension.

    `flags`: of one that differs from another by flags only, by compiler family; empty: those under test alone.
    """

    name: str
    source: Path
    needs: tuple[str, ...]
    broken: bool
    flags: dict[str, tuple[str, ...]] = {}

    @property
    def fortran(self) -> bool:
        return "fortran" in self.needs

    def makes(self, name: str) -> bool:
        """Return whether a program of this name is made from it: its own name, or that with a library's suffix."""
        return name == self.name or (bool(of_library(self.needs)) and name.startswith(f"{self.name}_"))


class Workload(msgspec.Struct, frozen=True):
    """One folder. `toolchain_sensitive` is false where the compiler's flags cannot matter: one toolchain is enough.

    `plain`: the variants that are ordinary code, written as a user would: no explicit vectors, prefetches or libraries.
    `storage`: the parameter that names a target of storage.
    """

    name: str
    folder: Path
    title: str
    question: str
    chapter: str
    toolchain_sensitive: bool
    suites: dict[str, list[Selection]]
    variants: tuple[Variant, ...]
    sizes: Sizes | None
    provides: tuple[Provides, ...]
    bounded_by: tuple[Bound, ...]
    rows: tuple[Row, ...]
    plots: tuple[Plot, ...]
    roles: tuple[Role, ...] = ()
    classes: tuple[Class, ...] = ()
    durations: tuple[Duration, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()
    asks: tuple[Ask, ...] = ()
    plain: tuple[str, ...] = ()
    expected_failures: tuple[ExpectedFailure, ...] = ()
    storage: str = ""

    def variant(self, name: str) -> Variant:
        """Return the variant of a program: of its name, or `blas` for `blas_openblas`. Raises KeyError."""
        fitting = [v for v in self.variants if v.makes(name)]
        if not fitting:
            raise KeyError(f"{self.name} has no variant {name}")
        return max(fitting, key=lambda v: len(v.name))

    def work(self, variant: str) -> str:
        """Return the class of work that a variant does; "" if none is declared for it."""
        return next((c.name for c in self.classes if any(fnmatchcase(variant, p) for p in c.variants)), "")

    def expected(self, variant: str, flag_set: str) -> str:
        """Return why the check of a variant fails with a flag set; "" unless that is declared."""
        known = (e for e in self.expected_failures if flag_set in e.flag_sets)
        return next((e.reason for e in known if any(fnmatchcase(variant, p) for p in e.variants)), "")


class _Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A workload.toml, as written."""

    title: str
    question: str
    toolchain_sensitive: bool = True
    plain: tuple[str, ...] = ()
    expected_failures: tuple[ExpectedFailure, ...] = ()
    suites: dict[str, list[Selection]] = {}
    sizes: Sizes | None = None
    provides: tuple[Provides, ...] = ()
    bounded_by: tuple[Bound, ...] = ()
    rows: tuple[Row, ...] = ()
    plots: tuple[Plot, ...] = ()
    roles: tuple[Role, ...] = ()
    flags: tuple[Flags, ...] = ()
    classes: tuple[Class, ...] = ()
    durations: tuple[Duration, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()
    asks: tuple[Ask, ...] = ()
    storage: str = ""


def roots() -> list[Path]:
    """Return the folders of workloads: `<checkout>/workloads`, then those in FIRSTLIGHT_WORKLOADS (a:b)."""
    extra = os.environ.get("FIRSTLIGHT_WORKLOADS", "")
    return [ROOT / "workloads", *(Path(part).expanduser() for part in extra.split(":") if part)]


def load(roots: list[Path]) -> dict[str, Workload]:
    """Read every workload folder under `roots`, directly or one group deeper, sorted by name.

    Raises UsageError naming the file and the key for a defect in a workload.toml, and for a root that is not a folder.
    """
    found: dict[str, Workload] = {}
    for root in roots:
        if not root.is_dir():
            raise UsageError(f"{root}: this folder of workloads does not exist; correct FIRSTLIGHT_WORKLOADS")
        for document in sorted([*root.glob("*/workload.toml"), *root.glob("*/*/workload.toml")]):
            workload = _read(document, _chapter(root, document))
            if workload.name in found:
                other = found[workload.name].folder
                raise UsageError(
                    f"{document.parent}: {other} is also a workload named {workload.name!r}; rename one of them"
                )
            found[workload.name] = workload
    return dict(sorted(found.items()))


def _chapter(root: Path, document: Path) -> str:
    """Return the name of the folder above the workload's own as its chapter; OWN if that folder is the root."""
    group = document.parent.parent
    return OWN if group == root else group.name


def _read(document: Path, chapter: str) -> Workload:
    folder = document.parent.resolve()
    if not NAME.fullmatch(folder.name):
        raise UsageError(
            f"{folder}: the name of a workload folder must consist of lower-case letters, digits and underscores"
        )
    try:
        parsed = reading.toml(document.read_bytes(), _Document)
    except (reading.MalformedError, OSError) as error:
        raise UsageError(f"{document}: {error}") from None
    for suite in parsed.suites:
        if suite not in SUITES:
            raise UsageError(f"{document}: unknown suite `suites.{suite}`; the suites are {', '.join(SUITES)}")
    variants = _variants(folder, parsed.flags)
    sound = [v.name for v in variants if not v.broken]
    titles = {row.title for row in parsed.rows}
    for k, other in enumerate(parsed.elsewhere):
        if other.row not in titles:
            raise UsageError(f"{document}: elsewhere[{k}] names the row {other.row!r}, which does not exist")
    if unknown := sorted(set(parsed.plain) - set(sound)):
        raise UsageError(f"{document}: `plain` names {unknown[0]!r}, which is not a variant of {folder.name}")
    for k, role in enumerate(parsed.roles):
        if wrong := defect(role, sound):
            raise UsageError(f"{document}: roles[{k}] {wrong}")
    for k, row in enumerate(parsed.rows):
        if row.purpose in BY_SIZE and by_size(parsed.roles, row.where) not in ("", row.purpose):
            raise UsageError(f"{document}: rows[{k}] `purpose`: messages of {LARGE} B and more are large")
    for k, ask in enumerate(parsed.asks):
        if wrong := defect_of_ask(ask, sound):
            raise UsageError(f"{document}: asks[{k}] {wrong}")
    return Workload(
        name=folder.name,
        folder=folder,
        chapter=chapter,
        variants=tuple(variants),
        **{field: getattr(parsed, field) for field in parsed.__struct_fields__ if field != "flags"},
    )


def by_size(roles: Iterable[Role], where: Mapping[str, Value]) -> Purpose:
    """Return the purpose of messages with the size in `where`; "" if it has none.

    The role of messages names the parameter.
    """
    sizes = ((where.get(role.size), role.bytes_per_element) for role in roles if role.role == MESSAGE)
    known = [value * width for value, width in sizes if isinstance(value, int | float)]
    return BY_SIZE[known[0] >= LARGE] if known else ""


def _variants(folder: Path, flags: tuple[Flags, ...]) -> list[Variant]:
    """Return one variant per source file of the folder and of `broken`, and one for each set of flags that fits it.

    `c_abi.cpp` is not a variant: it is the C side of the folder's Fortran variants.
    """
    variants = []
    for source in sorted([*folder.iterdir(), *folder.glob("broken/*")], key=lambda path: path.name):
        if source.suffix not in (".cpp", ".f90", ".cu") or source.name == "c_abi.cpp":
            continue
        if not NAME.fullmatch(source.stem):
            raise UsageError(
                f"{source}: the name of a variant must consist of lower-case letters, digits and underscores"
            )
        variants.append(Variant(source.stem, source, *_capabilities(source)))
    for more in flags:
        if not NAME.fullmatch(more.name):
            raise UsageError(
                f"{folder}/workload.toml: the names of flags must consist of lower-case letters, unlike {more.name!r}"
            )
        fitting = [v for v in variants if any(fnmatchcase(v.name, pattern) for pattern in more.variants)]
        for plain in (v for v in fitting if not v.broken and not v.flags):
            given = {family: tuple(words) for family, words in more.flags.items()}
            variants.append(msgspec.structs.replace(plain, name=f"{plain.name}_{more.name}", flags=given))
    repeated = {v.name for v in variants if sum(v.name == w.name for w in variants) > 1}
    if repeated:
        raise UsageError(f"{folder}: variant {min(repeated)!r} has two sources; rename one")
    return variants


def _capabilities(source: Path) -> tuple[tuple[str, ...], bool]:
    """Return what the file's name and extension require, and whether it is a broken variant."""
    language = {".f90": ("fortran",), ".cu": ("cuda",)}.get(source.suffix, ())
    return tuple(dict.fromkeys(needs(source.stem) + language)), source.stem.startswith("broken_")


def device_variant(workload: Workload, name: str) -> bool:
    """Return whether the steps of a variant run on a GPU; the name decides if the workload no longer has it."""
    known = next((v.needs for v in workload.variants if v.name == name), None)
    return on_device(needs(name) if known is None else known)
