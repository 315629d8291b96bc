"""Effort: what a variant adds to the serial one of its workload, counted from the files themselves.

Lines of code count: not comments, not blank lines. A variant's text is its own file and those of its workload's
folder (or of the group's, one folder up) that it includes, directly or not. A header that the serial variant includes
too is not an effort of this variant; any other header counts whole. The variant's own file is compared with the
serial variant's by a diff of their lines of code, without the white space around them: lines only in the variant's are
added, lines only in the serial one's are removed. firstlight's libraries below native/, which serve every workload,
count for none.

A directive is an added line with `#pragma omp` or `#pragma acc` (or `_Pragma`), in Fortran with `!$omp` or `!$acc`.
Each counts once, however many lines it goes on. CUDA has no directives: there, a function marked
`__global__` and a launch `<<<...>>>` count instead.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

import msgspec

from firstlight.model.catalogue import Variant, Workload
from firstlight.model.plan import Program
from firstlight.toolchain.sources import Sources

SERIAL = {".cpp": "serial", ".cu": "serial", ".f90": "fortran_serial"}
"""The variant that others are compared with, by the extension of their file."""

MOST_LINES = 20_000
"""Maximum lines of a file. A longer one was not written by hand, and its diff could take minutes."""

Count = Annotated[int, msgspec.Meta(ge=0, le=10_000_000)]

_C = re.compile(
    r"""//[^\n]*|/\*.*?\*/                                        # what goes
      |(?P<kept>R"(?P<raw>[^()\\\s]{0,16})\(.*?\)(?P=raw)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'|\d'(?=\w))""",
    re.DOTALL | re.VERBOSE,
)
_FORTRAN = re.compile(
    r"""(?P<kept>"[^"\n]*"|'[^'\n]*'|^[ \t]*!\$(?:omp|acc)\b[^\n]*)|![^\n]*""", re.IGNORECASE | re.MULTILINE
)
_DIRECTIVE = re.compile(
    r'^#\s*pragma\s+(?:omp|acc)\b|_Pragma\(\s*"(?:omp|acc)\b|^!\$(?:omp|acc)\s|__global__|<<<', re.IGNORECASE
)
_GOES_ON = re.compile(r"^!\$(?:omp|acc)\b.*&$", re.IGNORECASE)


class Effort(msgspec.Struct, frozen=True):
    """Lines of code `added` and `removed` in one variant, compared with the variant `serial` of the same folder.

    `directives`: the number of directives among the added lines. All are 0 for the serial variant itself.
    """

    serial: Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]{0,63}\Z")]
    added: Count
    removed: Count
    directives: Count


def efforts(programs: Iterable[Program], workloads: Mapping[str, Workload]) -> dict[str, Effort]:
    """Return efforts by `workload.variant`; omit workloads that lack a serial variant in the same language."""
    sources = Sources()
    found: dict[str, Effort] = {}
    for program in programs:
        if program.target not in found and (one := effort(program.variant, workloads[program.workload], sources)):
            found[program.target] = one
    return found


def effort(name: str, workload: Workload, sources: Sources) -> Effort | None:
    """Return the effort of the variant `name`; None without a serial variant to compare it with, or for a long file."""
    variant = workload.variant(name)
    serial = next((v for v in workload.variants if v.name == SERIAL.get(variant.source.suffix)), None)
    if serial is None:
        return None
    own, its = code(variant.source), code(serial.source)
    headers = _near(workload, variant, sources) - _near(workload, serial, sources) - {variant.source.resolve()}
    more = [code(header) for header in sorted(headers)]
    if max(map(len, (own, its, *more))) > MOST_LINES:
        return None
    added, removed = _changed(its, own)
    added += [line for lines in more for line in lines]
    return Effort(serial.name, len(added), removed, _directives(added))


def code(file: Path) -> list[str]:
    """Return the lines of code of a file: without comments, blank lines, and the white space around them."""
    text = file.read_text(encoding="utf-8", errors="replace")
    pattern = _FORTRAN if file.suffix == ".f90" else _C
    bare = pattern.sub(lambda found: found["kept"] or " ", text)
    return [line for line in map(str.strip, bare.splitlines()) if line]


def _near(workload: Workload, variant: Variant, sources: Sources) -> frozenset[Path]:
    """Return the files of the workload's folder, and of the group's, that a variant is made of."""
    folder = workload.folder
    found = sources.closure([variant.source])
    return frozenset(f for f in found if f.is_relative_to(folder) or f.parent == folder.parent)


def _changed(before: list[str], after: list[str]) -> tuple[list[str], int]:
    """Return the lines that `after` adds to `before`, and the number of lines that it removes."""
    steps = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    changes = [step for step in steps if step[0] != "equal"]
    return [line for _, _, _, j, k in changes for line in after[j:k]], sum(i - h for _, h, i, _, _ in changes)


def _directives(lines: list[str]) -> int:
    """Count the directives that begin in these lines; in Fortran each line has the mark, and a `&` before the next."""
    begun = zip(["", *lines], lines, strict=False)
    return sum(_DIRECTIVE.search(line) is not None and not _GOES_ON.search(before) for before, line in begun)
