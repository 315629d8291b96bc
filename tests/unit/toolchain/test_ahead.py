"""Files that use a precompiled header (cmake/Native.cmake) also include it: no compiler would report a missing one."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from firstlight import ROOT
from firstlight.toolchain.sources import Sources

USES = {
    "algorithm": r"(?:all|any|none)_of clamp copy(?:_n|_if)? count(?:_if)? equal fill(?:_n)? find(?:_if\w*)? "
    r"for_each\w* generate\w* is_sorted lower_bound max min (?:max|min|minmax)_element minmax nth_element "
    r"partition\w* remove_if replace\w* reverse rotate shuffle (?:stable_)?sort "
    r"swap_ranges transform unique upper_bound",
    "array": "array to_array",
    "bit": r"bit_(?:cast|ceil|floor|width) count[lr]_(?:zero|one) endian has_single_bit popcount rot[lr]",
    "cmath": r"acos asin atan2? cbrt ceil copysign cosh? erfc? exp(?:2|m1)? fabs floor fma fmod frexp hypot "
    r"is(?:finite|inf|nan) ldexp lgamma log(?:10|1p|2)? (?:l?l)?round nearbyint nextafter "
    r"pow remainder rint signbit sinh? sqrt tanh? trunc",
    "cstdio": r"FILE fclose fflush fopen fprintf fputs fread fwrite printf puts snprintf vsnprintf",
    "cstring": r"mem(?:chr|cmp|cpy|move|set) str(?:chr|cmp|error|len|ncmp|str)",
    "functional": r"bind_front c?ref function greater hash identity invoke less minus multiplies plus",
    "memory": r"addressof align assume_aligned construct_at destroy\w* make_(?:shared|unique\w*) shared_ptr unique_ptr",
    "optional": "make_optional nullopt optional",
    "span": "as_(?:writable_)?bytes span",
    "string": r"sto[a-z]+ string to_string",
    "string_view": "string_view",
    "type_traits": r"add_\w+ common_type\w* conditional\w* decay\w* enable_if\w* integral_constant invoke_result\w* "
    r"is_\w+_v make_(?:un)?signed\w* "
    r"remove_(?:const|cv\w*|pointer|reference)\w* (?:true|false)_type underlying_type\w*",
    "utility": r"as_const declval exchange forward (?:make_)?(?:index|integer)_sequence make_pair move pair swap",
    "vector": "vector",
}
"""The names of `std` that only this header declares, by header."""

PATTERNS = {header: re.compile(rf"\bstd::(?:{'|'.join(names.split())})\b") for header, names in USES.items()} | {
    "cfloat": re.compile(r"\b(?:FLT|DBL|LDBL)_[A-Z_]+\b"),
    "cstdint": re.compile(r"\bu?int(?:8|16|32|64|ptr)_t\b"),
}
IN_C = {"cfloat": "float.h", "cmath": "math.h", "cstdint": "stdint.h", "cstdio": "stdio.h", "cstring": "string.h"}
NOT_CODE = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"')
INCLUDED = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([^>]+)>", re.MULTILINE)
PROGRAMS = [*ROOT.glob("workloads/**/*.cpp"), *ROOT.glob("native/harness/src/*.cpp")]


@cache
def read(path: Path) -> tuple[frozenset[str], frozenset[str]]:
    """Return the system headers that the file includes, and those of which it uses a name."""
    text = path.read_text()
    code = NOT_CODE.sub("", text)
    return frozenset(INCLUDED.findall(text)), frozenset(h for h, uses in PATTERNS.items() if uses.search(code))


def missed(path: Path, sources: Sources) -> set[str]:
    """Return the headers that the program or a file included by it uses, and that none of them includes."""
    files = [read(file) for file in sources.closure([path])]
    included = frozenset[str]().union(*(some for some, _ in files))
    used = frozenset[str]().union(*(some for _, some in files))
    return {header for header in used - included if IN_C.get(header) not in included}


def test_every_program_includes_what_it_uses() -> None:
    sources = Sources()
    found = {str(path.relative_to(ROOT)): some for path in PROGRAMS if (some := missed(path, sources))}
    assert found == {}


def test_what_is_compiled_ahead_is_known_here() -> None:
    lists = re.findall(r"fl_ahead_headers ([^)]*)\)", (ROOT / "cmake" / "Native.cmake").read_text())
    ahead = {header for some in lists for header in re.findall(r"<(\w+)>", some)}
    assert len(lists) == 2 and ahead == set(PATTERNS)


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ("auto x = std::max(1, 2);", {"algorithm"}),
        ("#include <algorithm>\nauto x = std::max(1, 2);", set()),
        ("// std::max\nauto x = f(\"std::max\");", set()),
        ("#include <math.h>\nauto x = std::sqrt(2.0); uint64_t y;", {"cstdint"}),
        ("std::set_terminate(f);", set()),
    ],
)  # fmt: skip
def test_a_missing_header_is_found(tmp_path: Path, text: str, lacks: set[str]) -> None:
    (tmp_path / "a.hpp").write_text(text)
    (tmp_path / "a.cpp").write_text('#include "a.hpp"\n')
    assert missed(tmp_path / "a.cpp", Sources()) == lacks
