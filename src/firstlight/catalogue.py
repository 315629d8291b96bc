"""The catalogue: every workload folder found, its suites from workload.toml, its variants from its files."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Protocol

import msgspec

from firstlight import ROOT
from firstlight.errors import UsageError
from firstlight.roles import Role, defect

SUITES = ("quick", "standard", "full")
By = Literal["toolchain", "mpi", "variant"]
"""What tells apart the figures that a row compares."""
OWN = "own"
"""The chapter of workloads that lie in no chapter's folder: those that users keep beside their code."""
NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")

Value = int | Annotated[float, msgspec.Meta(ge=-sys.float_info.max, le=sys.float_info.max)] | str
"""A value of a parameter: finite, for it is part of a figure's identity."""


class Selection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One `[[suites.quick]]` entry: these variants, on toolchains matching one of the patterns, with these parameters.

    A parameter is a list of values: whole or real numbers, words, patterns of words that the program expands (`*`: all
    that it has), or the symbolic sizes L1, L2, L3 (half of that cache) and memory (four times the last cache).
    `toolchains = ["one"]` stands for the native flags of one compiler. MPI programs run with `ranks` ranks on one node,
    or as `placements` say: NODESxRANKSxTHREADS, as in 1x4x2 or allxall-1x1.
    """

    variants: list[str]
    toolchains: list[str] = msgspec.field(default_factory=lambda: ["*"])
    parameters: dict[str, list[Value]] = {}
    ranks: int = 2
    threads: list[int | str] = msgspec.field(default_factory=lambda: [1])  # "all" stands for all cores
    placements: list[str] = []
    bytes_per_element: float | None = None


class Sizes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a symbolic size becomes a value of `parameter`: bytes of working set an element.

    With `growth`, the parameter counts refinements: a value v has growth^v elements. `most`: the program takes no more.
    """

    parameter: str
    bytes_per_element: float
    memory_bytes_per_element: float | None = None  # where "memory" is counted differently (STREAM: each array)
    power_of_two: bool = False
    growth: Annotated[int, msgspec.Meta(ge=2)] | None = None
    most: int | None = None


class Declaration(Protocol):
    """Figures that an entry of workload.toml speaks of: of these variants, with these values of parameters.

    `device`: of the variants whose steps run on a GPU. Others never: neither has to do with the ceilings of the other.
    """

    @property
    def where(self) -> Mapping[str, Value]: ...
    @property
    def variants(self) -> Sequence[str]: ...
    @property
    def device(self) -> bool: ...


class Provides(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A measured ceiling that this workload supplies: `metric` of the cases that `where` selects, best of all."""

    ceiling: str
    metric: str
    where: dict[str, Value] = {}
    variants: list[str] = msgspec.field(default_factory=lambda: ["*"])
    device: bool = False
    by_working_set: bool = False


class Bound(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A step that moves `quantity` (a cost) takes at least quantity / ceiling, in the cases that `where` selects."""

    quantity: str
    ceiling: str
    where: dict[str, Value] = {}
    variants: list[str] = msgspec.field(default_factory=lambda: ["*"])
    device: bool = False


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One question, answered by the best figure selected; `choose` names what the answer recommends.

    A `headline` stands on the front page, the others in their chapter's section. `order`: within the chapter.
    """

    title: str
    metric: str
    order: int
    where: dict[str, Value] = {}
    variants: list[str] = msgspec.field(default_factory=lambda: ["*"])
    device: bool = False
    threads: int | str = 1
    ranks: int = 1
    choose: By = "toolchain"
    headline: bool = False


class Plot(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How this workload is drawn: `kind` names a function in the folder's report.py, or a drawing in report/plots."""

    kind: str  # staircase, message, roofline
    x: str
    metric: str
    lines: str  # toolchain, mpi, variant or a parameter
    where: dict[str, Value] = {}
    variants: list[str] = msgspec.field(default_factory=lambda: ["*"])
    device: bool = False
    subject: str = ""  # what the drawn figures are called in the title sentence
    mark_caches: bool = False


class Flags(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """More variants of the same sources: `<variant>_<name>`, compiled with further flags (the vectoriser switched off).

    `flags` gives them by compiler family; with a compiler that is not among them there is no such variant.
    """

    name: str
    flags: dict[str, list[str]]
    variants: list[str] = msgspec.field(default_factory=lambda: ["*"])


class Variant(msgspec.Struct, frozen=True):
    """One source file: `needs` lists capabilities (openmp, mpi, shmem, fortran, ...) from its prefix and extension.

    `flags`: of one that differs from another by flags only, by compiler family; empty: those under test alone.
    """

    name: str
    source: Path
    needs: tuple[str, ...]
    broken: bool
    flags: dict[str, tuple[str, ...]] = {}

    def makes(self, name: str) -> bool:
        """Whether a program of this name is made of it: of its own name, or with a library's behind it."""
        return name == self.name or (bool(of_library(self.needs)) and name.startswith(f"{self.name}_"))


class Workload(msgspec.Struct, frozen=True):
    """One folder. `toolchain_sensitive` is false where the compiler's flags cannot matter: one toolchain is enough."""

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
    source_hash: str = ""

    def variant(self, name: str) -> Variant:
        """That of a program: of its name, or the one that becomes `blas_openblas` with a library. Raises KeyError."""
        fitting = [v for v in self.variants if v.makes(name)]
        if not fitting:
            raise KeyError(f"{self.name} has no variant {name}")
        return max(fitting, key=lambda v: len(v.name))


class _Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A workload.toml, as written."""

    title: str
    question: str
    toolchain_sensitive: bool = True
    suites: dict[str, list[Selection]] = {}
    sizes: Sizes | None = None
    provides: tuple[Provides, ...] = ()
    bounded_by: tuple[Bound, ...] = ()
    rows: tuple[Row, ...] = ()
    plots: tuple[Plot, ...] = ()
    roles: tuple[Role, ...] = ()
    flags: tuple[Flags, ...] = ()


class Prefix(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file-name prefix asks for, what that comes with, and how to say so."""

    needs: str
    why: str
    implies: str = ""  # another capability: what has this one has that one
    device: bool = False  # its steps run on a GPU
    library: bool = False  # numerical libraries offer it: one program for each that does


def roots() -> list[Path]:
    """Where workloads are looked for: `<checkout>/workloads`, then the folders in FIRSTLIGHT_WORKLOADS (a:b)."""
    extra = os.environ.get("FIRSTLIGHT_WORKLOADS", "")
    return [ROOT / "workloads", *(Path(part).expanduser() for part in extra.split(":") if part)]


def load(roots: list[Path]) -> dict[str, Workload]:
    """Read every workload folder under `roots`, directly or one group deeper, sorted by name.

    Raises UsageError naming the file and the key for a defect in a workload.toml, and for a root that is no folder.
    """
    found: dict[str, Workload] = {}
    for root in roots:
        if not root.is_dir():
            raise UsageError(f"{root}: no such folder of workloads; correct FIRSTLIGHT_WORKLOADS")
        for document in sorted([*root.glob("*/workload.toml"), *root.glob("*/*/workload.toml")]):
            workload = _read(document, _chapter(root, document))
            if workload.name in found:
                other = found[workload.name].folder
                raise UsageError(
                    f"{document.parent}: a second workload named {workload.name!r}; the first is {other}; rename one"
                )
            found[workload.name] = workload
    return dict(sorted(found.items()))


def _chapter(root: Path, document: Path) -> str:
    """The folder that a workload's own lies in is its chapter; a workload that lies in a root itself is the user's."""
    group = document.parent.parent
    return OWN if group == root else group.name


def _read(document: Path, chapter: str) -> Workload:
    folder = document.parent.resolve()
    if not NAME.fullmatch(folder.name):
        raise UsageError(f"{folder}: a workload folder is named with lower-case letters, digits and underscores")
    try:
        content = document.read_text(encoding="utf-8")
        parsed = msgspec.convert(tomllib.loads(content), _Document)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, UnicodeDecodeError, OSError) as error:
        raise UsageError(f"{document}: {error}") from None
    for suite in parsed.suites:
        if suite not in SUITES:
            raise UsageError(f"{document}: unknown suite `suites.{suite}`; the suites are {', '.join(SUITES)}")
    variants = _variants(folder, parsed.flags)
    sound = [v.name for v in variants if not v.broken]
    for k, role in enumerate(parsed.roles):
        if wrong := defect(role, sound):
            raise UsageError(f"{document}: roles[{k}] {wrong}")
    return Workload(
        name=folder.name,
        folder=folder,
        chapter=chapter,
        variants=tuple(variants),
        source_hash=_source_hash(folder),
        **{field: getattr(parsed, field) for field in parsed.__struct_fields__ if field != "flags"},
    )


def _variants(folder: Path, flags: tuple[Flags, ...]) -> list[Variant]:
    """One variant a source file, and one more for each set of flags that fits it. `c_abi.cpp` is no variant: it is the
    C side of the folder's Fortran variants."""
    variants = []
    for source in sorted(folder.iterdir()):
        if source.suffix not in (".cpp", ".f90", ".cu") or source.name == "c_abi.cpp":
            continue
        if not NAME.fullmatch(source.stem):
            raise UsageError(f"{source}: a variant is named with lower-case letters, digits and underscores")
        variants.append(Variant(source.stem, source, *_capabilities(source)))
    for more in flags:
        if not NAME.fullmatch(more.name):
            raise UsageError(f"{folder}/workload.toml: flags are named with lower-case letters, not {more.name!r}")
        fitting = [v for v in variants if any(fnmatchcase(v.name, pattern) for pattern in more.variants)]
        for plain in (v for v in fitting if not v.broken and not v.flags):
            given = {family: tuple(words) for family, words in more.flags.items()}
            variants.append(msgspec.structs.replace(plain, name=f"{plain.name}_{more.name}", flags=given))
    repeated = {v.name for v in variants if sum(v.name == w.name for w in variants) > 1}
    if repeated:
        raise UsageError(f"{folder}: two sources of variant {min(repeated)!r}; rename one")
    return variants


def _capabilities(source: Path) -> tuple[tuple[str, ...], bool]:
    """What the file's name and its extension ask for, and whether it is a broken variant."""
    language = {".f90": ("fortran",), ".cu": ("cuda",)}.get(source.suffix, ())
    return tuple(dict.fromkeys(needs(source.stem) + language)), source.stem.startswith("broken_")


def needs(variant: str) -> tuple[str, ...]:
    """What a variant's name asks for: prefixes from the left, `mpi_omp_x` needs both. `broken_` asks for nothing."""
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
    """The file-name prefixes that ask for a capability, from native/prefixes.json."""
    table = json.loads((ROOT / "native" / "prefixes.json").read_text(encoding="utf-8"))
    return msgspec.convert(table, dict[str, Prefix])


def device_variant(workload: Workload, name: str) -> bool:
    """Whether the steps of that variant run on a GPU; by its name alone where the workload no longer has it."""
    known = next((v.needs for v in workload.variants if v.name == name), needs(name))
    return on_device(known)


def on_device(capabilities: Iterable[str]) -> bool:
    """Whether a variant that needs these runs its steps on a GPU."""
    return not {p.needs for p in prefixes().values() if p.device}.isdisjoint(capabilities)


def of_library(capabilities: Iterable[str]) -> tuple[str, ...]:
    """Those of the capabilities that one numerical library has to offer together."""
    offered = {p.needs for p in prefixes().values() if p.library}
    return tuple(need for need in capabilities if need in offered)


def why(capability: str) -> str:
    """What a variant with this need is waiting for, in words: `a Fortran compiler`."""
    return next((p.why for p in prefixes().values() if p.needs == capability), capability)


def _source_hash(folder: Path) -> str:
    """SHA-256 over names and contents of all sources of a workload: two runs of equal hashes measured the same code.

    Headers beside the folder, which the workloads of a group share, are sources of each of them.
    """
    digest = hashlib.sha256()
    for source in [*sorted(folder.iterdir()), *sorted(folder.parent.glob("*.hpp"))]:
        if source.suffix in (".cpp", ".hpp", ".f90", ".cu", ".toml"):
            content = source.read_bytes()
            digest.update(f"{source.name} {len(content)}\n".encode())
            digest.update(content)
    return digest.hexdigest()
