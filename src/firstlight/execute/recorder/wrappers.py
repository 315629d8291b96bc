"""Wrappers: the C++ source of the functions that wrap those of one MPI library, made from its own mpi.h.

The prototypes are those of that mpi.h (handles are numbers in one library and pointers in another, and an older one
lacks some functions); what each call sends comes from the table of calls.

Fortran calls reach a C wrapper only if the library's Fortran side calls MPI_Send. Open MPI's calls PMPI_Send, so
all of its Fortran functions are wrapped too (mpi_send_ and mpi_send_f08_). MPICH's does so only in those functions of
mpi_f08 that take no buffer (mpi_barrier_f08_); the others, and mpif.h, call MPI functions. A call that reaches two
wrappers counts once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from firstlight.execute.recorder.calls import Call
from firstlight.system.mpi_families import of

HELPERS = [
    "Comm_rank",
    "Comm_size",
    "Comm_test_inter",
    "Comm_group",
    "Comm_remote_group",
    "Group_size",
    "Group_compare",
    "Group_translate_ranks",
    "Group_free",
    "Comm_create_keyval",
    "Comm_set_attr",
    "Win_create_keyval",
    "Win_set_attr",
    "Win_get_group",
    "Type_size_x",
    "Topo_test",
    "Cart_shift",
    "Cartdim_get",
    "Graph_neighbors_count",
    "Graph_neighbors",
    "Dist_graph_neighbors_count",
    "Dist_graph_neighbors",
    "Get_library_version",
    "Comm_get_parent",
    "Init",
    "Init_thread",
    "Finalize",
    "Abort",
]
"""Functions that the profiler itself calls, by their PMPI names."""
CONVERSIONS = ["Comm_f2c", "Type_f2c", "Request_f2c", "Win_f2c", "Op_f2c"]
"""Functions that the profiler also calls, if they are not macros."""
_PARAMETER = re.compile(r"(.*?)(\w+)\s*((?:\[\d*\]\s*)*)", re.DOTALL)


class Parameter(msgspec.Struct, frozen=True):
    """`type` and `array` ("[]" or "") around a name of the standard: `const int` `sendcounts` `[]`."""

    type: str
    name: str
    array: str

    @property
    def declared(self) -> str:
        return f"{self.type} a_{self.name}{self.array}"

    @property
    def pointer(self) -> bool:
        return bool(self.array) or self.type.endswith("*")


class Wrapper(msgspec.Struct, frozen=True):
    """One C function of this MPI library. `kind` is the call it counts as: that of MPI_Send for MPI_Send_c."""

    name: str
    kind: str
    call: Call
    parameters: tuple[Parameter, ...]


def generate(calls: Sequence[Call], mpi_h: str, family: str) -> tuple[str, str]:
    """Return (generated.hpp, generated.cpp) for an mpi.h after the preprocessor.

    Raises ValueError if mpi.h declares a function with another number of arguments than the table of calls.
    """
    prototypes = dict(re.findall(r"\bint\s+(MPI_\w+)\s*\(([^()]*)\)", mpi_h))
    wrappers = [
        wrapper(name, call, prototypes[name])
        for call in calls
        for name in (call.name, f"{call.name}_c")
        if name in prototypes
    ]
    return _header(calls, wrappers, family), _source(wrappers, family)


def wrapper(name: str, call: Call, prototype: str) -> Wrapper:
    texts = [part.strip() for part in prototype.split(",")]
    if len(texts) != len(call.arguments):
        raise ValueError(f"mpi.h declares {name} with {len(texts)} arguments, calls.txt with {len(call.arguments)}")
    parameters = []
    for text, argument in zip(texts, call.arguments, strict=True):
        match = _PARAMETER.fullmatch(text)
        if match is None:
            raise ValueError(f"{name}: cannot read the parameter {text!r} of mpi.h")
        parameters.append(Parameter(match[1].strip(), argument, match[3].strip()))
    return Wrapper(name, call.name, call, tuple(parameters))


def _header(calls: Sequence[Call], wrappers: Sequence[Wrapper], family: str) -> str:
    names = [w.name.removeprefix("MPI_") for w in wrappers]
    helpers = [h for h in [*HELPERS, *(CONVERSIONS if of(family).conversions_are_functions else [])] if h not in names]
    foreign = [f for w in wrappers for f in fortran_names(w, family)]
    kinds = [call.name.removeprefix("MPI_") for call in calls]
    lines = ["#pragma once", "#include <mpi.h>", "#include <cstddef>", "#include <new>"]
    lines += ["namespace fl {", f"enum class Kind : int {{ {', '.join(kinds)}, count }};"]
    lines += [f"inline constexpr const char* kind_names[] = {{ {', '.join(_quoted(c.name) for c in calls)} }};"]
    lines += ["struct Real {", *(f"  decltype(&::PMPI_{name}) {name};" for name in [*names, *helpers])]
    lines += [f"  void* {name};" for name in foreign]
    lines += ["};", "struct Entry { const char* name; std::size_t offset; };"]
    entries = [f'{{"PMPI_{name}", offsetof(Real, {name})}}' for name in [*names, *helpers]]
    entries += [f'{{"{name}", offsetof(Real, {name})}}' for name in foreign]
    lines += [f"inline constexpr Entry entries[] = {{ {', '.join(entries)} }};", "}", ""]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    return f'"{text}"'


def _source(wrappers: Sequence[Wrapper], family: str) -> str:
    parts = ['#include "record.hpp"', '#define FL_VISIBLE extern "C" __attribute__((visibility("default")))']
    parts += [c_wrapper(w) for w in wrappers]
    parts += [fortran_wrapper(w, name) for w in wrappers for name in fortran_names(w, family)]
    return "\n".join([*parts, ""])


def c_wrapper(w: Wrapper) -> str:
    values = {p.name: f"a_{p.name}" for p in w.parameters}
    for p in w.parameters:
        if p.name == "request" and p.pointer:
            values["request"] = "*a_request"
        elif p.array and p.type.endswith("MPI_Datatype"):
            values[p.name] = f"fl::Types<MPI_Datatype>{{a_{p.name}}}"
    given = ", ".join(f"a_{p.name}" for p in w.parameters)
    member = w.name.removeprefix("MPI_")
    return (
        f"FL_VISIBLE int {w.name}({', '.join(p.declared for p in w.parameters)}) {{\n"
        f"  fl::Call call(fl::Kind::{w.kind.removeprefix('MPI_')});\n"
        + _body(w, values, f"const int status = fl::real.{member}({given});")
        + "  return status;\n}"
    )


def fortran_names(w: Wrapper, family: str) -> list[str]:
    """Return the Fortran symbols to wrap: of mpif.h and `use mpi` if those do not call MPI functions, of `mpi_f08`."""
    if w.call.rule == "hidden" or w.name.endswith("_c"):
        return []
    return [w.name.lower() + suffix for suffix in of(family).fortran_symbols]


def fortran_wrapper(w: Wrapper, name: str) -> str:
    """Return a wrapper that forwards the call: every argument is an address to pass on; `error` may be absent."""
    values = {p.name: _fortran_value(p) for p in w.parameters}
    declared = ", ".join([*(f"void* a_{p.name}" for p in w.parameters), "MPI_Fint* error"])
    given = ", ".join([*(f"a_{p.name}" for p in w.parameters), "error"])
    types = ", ".join([*("void*" for _ in w.parameters), "MPI_Fint*"])
    forward = f"reinterpret_cast<void (*)({types})>(fl::real.{name})({given});\n"
    forward += "  const int status = error != nullptr ? static_cast<int>(*error) : MPI_SUCCESS;"
    return (
        f"FL_VISIBLE void {name}({declared}) {{\n"
        f"  fl::Call call(fl::Kind::{w.kind.removeprefix('MPI_')});\n" + _body(w, values, forward) + "}"
    )


def _fortran_value(p: Parameter) -> str:
    a = f"a_{p.name}"
    if p.name == "request":
        return f"fl::request_of({a})"
    if p.name == "array_of_requests":
        return f"fl::requests_of({a})"
    if p.array and p.type.endswith("MPI_Datatype"):
        return f"fl::types_of({a})"
    single = {
        "int": "value", "MPI_Count": "large_value", "MPI_Comm": "comm_of", "MPI_Win": "win_of", "MPI_Op": "op_of",
        "MPI_Datatype": "type_of",
    }  # fmt: skip
    if not p.pointer and p.type in single:
        return f"fl::{single[p.type]}({a})"
    return f"fl::values({a})" if p.array else a


def _body(w: Wrapper, values: dict[str, str], forward: str) -> str:
    """Return code that forwards the call and records it; a request that it frees is looked at before."""
    rule = w.call.rule
    if rule in ("time", "hidden"):
        return f"  {forward}\n  call.done(status);\n"
    if rule == "request_free(request)":
        return f"  fl::forget_request({values['request']});\n  {forward}\n  call.done(status);\n"
    done = "done_without_count" if "_init(" in rule else "done"
    recorded = re.sub(r"\w+", lambda m: values.get(m[0], m[0]), rule)
    for inner in re.findall(r"\((\w+)\(", rule):  # the value of a collective is a function of record.hpp too
        recorded = recorded.replace(f"({inner}(", f"(fl::{inner}(", 1)
    outer, _, rest = recorded.partition("(")
    rest = "" if rest == ")" else f", {rest}"
    return f"  {forward}\n  if (call.{done}(status)) fl::{outer}(call{rest};\n"
