"""Assembly: the loop of an executable with most of its arithmetic, as a disassembler shows it."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from firstlight.system.process.bounded import run

MOST_LINES = 60
SECONDS = 20.0
_FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
_INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(\S+)(?:\s+(.*))?$")
_TARGET = re.compile(r"(?:^|,\s*)([0-9a-f]+)\s+<")
_JUMP = re.compile(r"j(?!mp)\w+|b\.\w+|[ct]bn?z")
_MENTIONED = re.compile(r"\b([0-9a-f]+)\s+<")
TIMED = r"(?<![a-z])timed::seam::"
"""The functions that call the steps of a variant (`firstlight/role.hpp`, `firstlight/variant.hpp`)."""
_ARITHMETIC = re.compile(r"^v?(?:f?n?m(?:add|sub)\w*|add|sub|mul|div|sqrt|dp)[ps][sdh]\w*$")
_AARCH64 = re.compile(r"^f(?:n?m(?:add|sub|la|ls)|add|sub|mul|div|sqrt)\w*$")
_PACKED = re.compile(
    r"^v?(?:f?n?m(?:add|sub)\d*|add|sub|mul|div|sqrt|max|min|cmp\w*|cvt\w+2)p[sd]$|^v?p(?:add|sub|max|min)\w*$|^v?p?gather"
)
_MOVE = re.compile(r"^v?mov(?:[au]p[sd]|dq[au]\d*)$")
_ARM_VECTOR = re.compile(r"\bv\d+\.\d+[bhsd]|\bz\d+\.[bhsd]")
_WIDTHS = ((re.compile(r"%zmm"), 512), (re.compile(r"%ymm"), 256), (re.compile(r"%xmm|\bv\d+\.\d+[bhsd]"), 128))


class Loop(msgspec.Struct, frozen=True):
    """An innermost loop. `width`: the bits of the widest vector in its arithmetic (64 or 32: scalar; 0: no
    arithmetic). `arithmetic`: the number of arithmetic instructions.
    """

    function: str
    width: int
    arithmetic: int
    lines: tuple[str, ...]


def hot_loop(executable: Path, root: str = TIMED) -> Loop | str:
    """Return the innermost loop with the widest and most floating-point arithmetic, of the timed functions.

    These are the functions whose names match `root` and all whose addresses they mention. Nothing is sampled: a program
    that is one kernel spends its time where its arithmetic is. The result is a string with the reason if there is no
    such loop.
    """
    every = _disassembled(executable)
    if isinstance(every, str):
        return every
    loops = [
        _loop(function.name, some)
        for function in _reached(every, re.compile(root))
        for some in _loops(function.instructions)
    ]
    best = max(loops, key=lambda loop: (loop.width, loop.arithmetic), default=None)
    if best is None or best.arithmetic == 0:
        return "not available: no loop of the program computes with floating-point numbers"
    return best


def root_of(kernel: object) -> str:
    """Return a pattern for the functions that one kernel of a program is compiled into (`firstlight/variant.hpp`)."""
    return rf"{TIMED}.*\b{re.escape(str(kernel))}\b"


def widths(executable: Path, kernels: Sequence[str]) -> dict[str, int] | str:
    """Return for each kernel of a program the bits of the widest vector in its loops; 0 for scalar loops.

    Vectors that compute, gather, scatter, load or store count. Vectors of one number, or with a constant, do not count,
    nor do those of a library that is called. Vectors of SVE, whose width is not known, count with their least width.
    The result is a string with the reason if nothing is known. A kernel without a function of its own is left out.
    """
    every = _disassembled(executable)
    if isinstance(every, str):
        return every
    found = {}
    for kernel in kernels:
        own = list(_reached(every, re.compile(root_of(kernel))))
        if own:
            some = (i for function in own for loop in _loops(function.instructions) for i in loop)
            found[kernel] = max(map(_vector, some), default=0)
    return found


def _disassembled(executable: Path) -> list[_Function] | str:
    """Return the functions of the executable, or why there are none."""
    objdump = shutil.which("objdump")
    if objdump is None:
        return "not available: objdump is not on PATH; install binutils"
    try:
        done = run([objdump, "-d", "-C", "--no-show-raw-insn", str(executable)], timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"not available: objdump: {error}"
    if done.returncode != 0:
        return f"not available: objdump ended with status {done.returncode}"
    return list(_functions(done.stdout))


class _Instruction(msgspec.Struct, frozen=True):
    address: int
    name: str
    operands: str

    @property
    def text(self) -> str:
        return f"{self.name} {self.operands}".rstrip()


class _Function(msgspec.Struct, frozen=True):
    name: str
    instructions: list[_Instruction]


def _functions(text: str) -> Iterator[_Function]:
    """Yield each function with its instructions."""
    name, found = "", list[_Instruction]()
    for line in text.splitlines():
        if head := _FUNCTION.match(line):
            if found:
                yield _Function(name, found)
            name, found = head[1], []
        elif part := _INSTRUCTION.match(line):
            found.append(_Instruction(int(part[1], 16), part[2], part[3] or ""))
    if found:
        yield _Function(name, found)


def _reached(every: Sequence[_Function], root: re.Pattern[str]) -> Iterator[_Function]:
    """Yield the functions of that name and all that they mention: calls, and functions whose address is passed on."""
    at = {function.instructions[0].address: function for function in every}
    left = [function for function in every if root.search(function.name)]
    seen = {function.instructions[0].address for function in left}
    while left:
        function = left.pop()
        yield function
        for instruction in function.instructions:
            for mentioned in _MENTIONED.findall(instruction.operands):
                place = int(mentioned, 16)
                if place in at and place not in seen:
                    seen.add(place)
                    left.append(at[place])


def _loops(some: Sequence[_Instruction]) -> Iterator[Sequence[_Instruction]]:
    """Yield stretches that a jump at their end repeats from the beginning, without such a stretch in them."""
    places = {instruction.address: k for k, instruction in enumerate(some)}
    found: list[tuple[int, int]] = []
    for end, instruction in enumerate(some):
        target = _TARGET.search(instruction.operands)
        if target and _JUMP.fullmatch(instruction.name):
            start = places.get(int(target[1], 16))
            if start is not None and start <= end and not any(i.name.startswith("ret") for i in some[start:end]):
                found.append((start, end))
    for start, end in found:
        if not any((a, b) != (start, end) and start <= a and b <= end for a, b in found):
            yield some[start : end + 1]


def _loop(function: str, some: Sequence[_Instruction]) -> Loop:
    computing = [i for i in some if _ARITHMETIC.match(i.name) or _AARCH64.match(i.name)]
    lines = tuple(i.text for i in some[:MOST_LINES])
    if len(some) > MOST_LINES:
        lines += (f"... {len(some) - MOST_LINES} more instructions",)
    return Loop(function, max(map(_width, computing), default=0), len(computing), lines)


def _vector(instruction: _Instruction) -> int:
    """Return the bits of the vector of several numbers that an instruction works on, 0 if there is none."""
    name, operands = instruction.name, instruction.operands
    if "%" not in operands:
        return 128 if _ARM_VECTOR.search(operands) else 0
    if re.search(r"%[yz]mm", operands):
        return 512 if "%zmm" in operands else 256
    moved = _MOVE.match(name) and "(" in operands and "%rip" not in operands
    packed = _PACKED.match(name) and "%xmm" in operands
    return 128 if packed or (moved and "%xmm" in operands) else 0


def _width(instruction: _Instruction) -> int:
    """Return the bits of the vector that an instruction computes with; those of one number if it is scalar."""
    scalar = re.search(r"s([sdh])$", re.sub(r"^v?f?n?m(?:add|sub)(?:132|213|231)", "", instruction.name))
    if scalar and "%" in instruction.operands:
        return {"d": 64, "s": 32, "h": 16}[scalar[1]]
    for pattern, bits in _WIDTHS:
        if pattern.search(instruction.operands):
            return bits
    return 64
