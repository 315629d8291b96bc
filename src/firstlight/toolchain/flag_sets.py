"""Flag sets that users commonly try. The first spelling of a name that a compiler accepts silently is used."""

from __future__ import annotations

from firstlight.toolchain import FlagSet

FLAG_SETS: dict[FlagSet, tuple[tuple[str, ...], ...]] = {
    "base": (("-O2",),),
    # Some compilers for Arm and POWER know only -mcpu.
    "native": (("-O3", "-march=native"), ("-O3", "-mcpu=native")),
    # clang 19 deprecates -Ofast and names -O3 -ffast-math as its meaning.
    "fast": (
        ("-Ofast", "-march=native"),
        ("-O3", "-ffast-math", "-march=native"),
        ("-Ofast", "-mcpu=native"),
        ("-O3", "-ffast-math", "-mcpu=native"),
    ),
}

OPENMP: tuple[tuple[str, ...], ...] = (("-fopenmp",), ("-fopenmp=libomp",))
