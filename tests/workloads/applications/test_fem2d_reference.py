"""The reference numbers of fem2d's iterations equal those of an implementation with sparse matrices."""

from __future__ import annotations

import re

import pytest

import native

REFERENCE = (native.workloads["fem2d"].folder / "reference.hpp").read_text(encoding="utf-8")
DIGITS = (6, 8, 10, 12)
LOOKED_AT = (0, 2, 5)


def table(name: str) -> list[tuple[list[int], list[float]]]:
    """Return iterations and norms of each level."""
    (_, rows) = REFERENCE.split(f"Course {name}[] = {{")
    pairs = re.findall(r"\{\{([^}]*)\},\s*\{([^}]*)\}\}", rows.partition("};")[0])
    return [([int(n) for n in a.split(",")], [float(x) for x in b.split(",")]) for a, b in pairs]


@pytest.mark.parametrize(("name", "method"), [("course_of_bpx", "additive"), ("course_of_v_cycle", "v_cycle")])
def test_the_reference_is_what_the_definitions_give(name: str, method: str) -> None:
    import fem2d_oracle  # of scipy a second, which every worker would spend that reads this file

    rows = table(name)
    assert len(rows) == 8
    for level in range(3):
        iterations, rho = rows[level]
        for digits, wanted in zip(DIGITS, iterations, strict=True):
            found = fem2d_oracle.course(level, digits, lambda levels: getattr(levels, method))
            assert found.iterations == wanted
            assert [found.rho[k] for k in LOOKED_AT] == pytest.approx(rho, rel=1e-8)
