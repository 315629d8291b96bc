"""Compile variants of a workload with the same requirements as one file: compilers read its headers once, and templates
that several variants instantiate.

The name of the executable tells which variant it is, so each variant has its own link to the same executable.
A variant is inside a namespace here. One that opens a named namespace, itself or by a macro of its workload, is
compiled alone.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from msgspec.structs import replace

import native
from firstlight.execute.build import Built
from firstlight.model.catalogue import Variant, of_library
from firstlight.model.plan import Program
from firstlight.toolchain.sources import digest

FOLDER = native.CACHE / "together"
_INCLUDE = re.compile(r'^#include (?:(<[^>\n]+>)|"([^"\n]+)")', re.MULTILINE)
_NAMED = re.compile(r"^namespace \w", re.MULTILINE)


def make(programs: Iterable[Program]) -> dict[Program, Built]:
    """Build variants with warnings as errors; if one does not compile, all of its file have that error."""
    groups: dict[object, list[Program]] = defaultdict(list)
    for program in programs:
        variant = _variant(program)
        kind = program.variant if _alone(variant) else variant.needs
        groups[program.workload, kind, program.toolchain, program.mpi].append(program)
    lone = [group[0] for group in groups.values() if len(group) == 1]
    files = {_program(group): group for group in groups.values() if len(group) > 1}
    workloads = dict(native.workloads)
    for together, group in files.items():
        workload = workloads[together.workload]
        variants = (*workload.variants, _file(together, group))
        workloads[workload.name] = replace(workload, variants=variants)
    built = native.make([*lone, *files], workloads=workloads)
    return {p: built[p] for p in lone} | {p: _linked(built[f], p) for f, group in files.items() for p in group}


def _alone(variant: Variant) -> bool:
    special = variant.source.suffix != ".cpp" or variant.flags or of_library(variant.needs)
    text = variant.source.read_text()
    return bool(special or _NAMED.search(text) or not (variant.broken or "FL_VARIANT(" in text))


def _variant(program: Program) -> Variant:
    return native.workloads[program.workload].variant(program.variant)


def _program(group: list[Program]) -> Program:
    needs = "_".join(_variant(group[0]).needs) or "serial"
    return replace(group[0], variant=f"together_{needs}")


def _file(together: Program, group: list[Program]) -> Variant:
    """Write the file that contains the variants of a group, each in its own namespace."""
    sources = [_variant(program).source for program in group]
    text = _text(together.workload, sources)
    path = FOLDER / digest([text.encode()])[:24] / f"{together.variant}.cpp"
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}")
    part.write_text(text)
    part.replace(path)
    return replace(_variant(group[0]), name=together.variant, source=path)


def _text(workload: str, sources: list[Path]) -> str:
    headers = dict.fromkeys(line for source in sources for line in _headers(source))
    lines = [
        "#ifndef __clang__",
        '#pragma GCC diagnostic ignored "-Wsubobject-linkage"  // would matter in a header only',
        "#endif",
        *headers,
        "#include <errno.h>",
        "#include <string_view>",
        '#include "firstlight/variant.hpp"',
        "#undef FL_VARIANT_OF",
        "#define FL_VARIANT_OF FL_DESCRIBED",
        f"FL_DECLARED_BY({workload})",
    ]
    for source in sources:
        lines += ["#undef FL_VARIANT_NAME", f'#define FL_VARIANT_NAME "{source.stem}"']
        lines += [f"namespace of_{source.stem} {{", f'#include "{source}"', "}"]
    # The build names it by the name of the file, and requests only a description: any variant's is sufficient.
    chosen = [f'if (name == "{workload}.{s.stem}") return of_{s.stem}::fl_this_variant;' for s in sources]
    lines += ["static const fl::Variant& called() {", "const std::string_view name = program_invocation_short_name;"]
    lines += [*chosen, f"return of_{sources[0].stem}::fl_this_variant;", "}"]
    return "\n".join([*lines, "const fl::Variant fl::variant = called();", ""])


def _headers(source: Path) -> list[str]:
    """Return the #include lines of a file and of the source files that it includes: in a namespace they do nothing."""
    found: list[str] = []
    for system, own in _INCLUDE.findall(source.read_text()):
        place = next((p.resolve() for p in (source.parent / own, source.parent.parent / own) if p.is_file()), None)
        if place is not None and place.suffix == ".cpp":
            found += _headers(place)
        else:
            found.append(f"#include {system or chr(34) + str(place or own) + chr(34)}")
    return found


def _linked(built: Built, program: Program) -> Built:
    if built.executable is None:
        return replace(built, program=program)
    link = FOLDER / built.recipe / program.target
    link.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        link.symlink_to(built.executable)
    described = subprocess.run([link, "--describe"], stdout=subprocess.PIPE, check=True).stdout
    sha256 = f"{built.sha256} {program.variant}"
    return replace(built, program=program, executable=link, sha256=sha256, describe=described)
