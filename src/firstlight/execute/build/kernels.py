"""Kernels: registers and spills of each GPU kernel, as its compiler reports them.

They are facts of a build, not of a run: they are known without a GPU, for the architecture that was compiled for.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from typing import Annotated

import msgspec

from firstlight.toolchain.cmake import run

FLAGS = ("-Xptxas=-v",)
"""Flags that make nvcc report them."""

MOST = 512
"""Maximum number of kernels of a program that are kept."""

Number = Annotated[int, msgspec.Meta(ge=0, le=1 << 40)]


class Kernel(msgspec.Struct, frozen=True):
    """One kernel for one architecture. Per thread: `registers`, the bytes of the stack frame, and the bytes stored
    to and loaded from memory for lack of registers (counted once per instruction in the code). Per block: the
    bytes of reserved shared memory.
    """

    name: Annotated[str, msgspec.Meta(max_length=256)]
    architecture: Annotated[str, msgspec.Meta(max_length=32)]
    registers: Number
    spill_stores: Number = 0
    spill_loads: Number = 0
    stack: Number = 0
    shared: Number = 0


_BEGIN = re.compile(r"Compiling entry function '(?P<name>[^'\n]+)' for '(?P<for>[^'\n]+)'")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers\b.*")
_SHARED = re.compile(r"(\d+) bytes smem")


def parse_kernels(printed: str, environment: Mapping[str, str]) -> tuple[Kernel, ...]:
    """Parse the kernels in nvcc's output, named as in the source, without parameters; () if it mentions none."""
    begins = list(_BEGIN.finditer(printed))[:MOST]
    ends = [*(found.start() for found in begins[1:]), len(printed)][: len(begins)]
    names = _demangled([found["name"] for found in begins], environment)
    made = (
        _kernel(name, found["for"], found["name"], printed[found.end() : end])
        for name, found, end in zip(names, begins, ends, strict=True)
    )
    return tuple(sorted((one for one in made if one is not None), key=lambda k: (k.name, k.architecture)))


def _kernel(name: str, architecture: str, symbol: str, printed: str) -> Kernel | None:
    used = _USED.search(printed)
    if used is None:
        return None
    own = re.search(
        rf"Function properties for {re.escape(symbol)}\s+([^\n]*)", printed
    )  # functions it calls have theirs
    frame = _FRAME.search(own[1]) if own else None
    stack, stores, loads = (int(n) for n in frame.groups()) if frame else (0, 0, 0)
    shared = _SHARED.search(used[0])
    return Kernel(name[:256], architecture[:32], int(used[1]), stores, loads, stack, int(shared[1]) if shared else 0)


def _demangled(symbols: list[str], environment: Mapping[str, str]) -> list[str]:
    """Return the names as in the source, if binutils are complete, else the linker's names."""
    filter_ = shutil.which("c++filt")
    if filter_ is None or not symbols:
        return symbols
    code, output = run([filter_, "-p", *symbols], environment, merge=False)
    lines = output.replace("(anonymous namespace)::", "").splitlines()
    return lines if code == 0 and len(lines) == len(symbols) else symbols
