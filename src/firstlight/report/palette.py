"""Colours: one colour-blind-safe palette (after Okabe and Ito 2008); toolchains and MPIs keep theirs on the page.

These are the colours of the light page; `DARK` has each colour's counterpart for the dark page.
The contrast of every colour with its page is at least 3:1.
"""

from __future__ import annotations

from firstlight.results.record import Run
from firstlight.toolchain import SITE_FLAGS

COOL = ("#0072B2", "#2B8FC7", "#009E73")  # blue, sky, green: the first compiler
WARM = ("#D55E00", "#B07D00", "#C0679A")  # vermillion, orange, purple: the second
MORE = ("#5F6B00", "#661100", "#5E4FA2", "#2E8F80", "#882255")  # no grey: that is what stays in the background
GREY = "#7F7F7F"  # on both pages
DARK = dict(
    zip(
        (*COOL, *WARM, *MORE, GREY),
        ("#3D9FDF", "#8ACDF2", "#1FB58A", "#F07A24", "#E6B030", "#E29CC2",
         "#B5C234", "#E58A74", "#A394EA", "#6FD0C0", "#DD6A9B", GREY),
        strict=True,
    )
)  # fmt: skip
_DASH = {"base": "dot", "native": "solid", "fast": "dash"}
_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "star", "hexagon")
_ORDER = ("native", "base", "fast")


class Palette:
    """Colour, dash and symbol by name of a toolchain, an MPI library or a variant. Names that come later are added."""

    def __init__(self, run: Run) -> None:
        self._colour: dict[str, str] = {}
        compilers = list(dict.fromkeys(t.compiler for t in run.toolbox.toolchains))
        for compiler, colours in zip(compilers, (COOL, WARM), strict=False):
            mine = [t for t in run.toolbox.toolchains if t.compiler == compiler]
            mine.sort(key=lambda t: _ORDER.index(t.flag_set) if t.flag_set in _ORDER else len(_ORDER))
            self._colour |= {t.name: c for t, c in zip(mine, colours, strict=False)}
        for mpi, colour in zip(run.toolbox.mpis, (COOL[2], WARM[2], MORE[2]), strict=False):
            self._colour[mpi.name] = colour
        self._extra = 0

    def colour(self, name: str) -> str:
        if name not in self._colour:
            sequence = (COOL[0], WARM[1], COOL[2], WARM[0], WARM[2], COOL[1], *MORE)
            self._colour[name] = sequence[self._extra % len(sequence)]
            self._extra += 1
        return self._colour[name]

    def dash(self, name: str) -> str:
        return _DASH.get(name.removesuffix(SITE_FLAGS).rpartition("-")[2], "solid")

    def symbol(self, position: int) -> str:
        return _SYMBOLS[position % len(_SYMBOLS)]
