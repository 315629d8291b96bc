"""Chapters: the sections of a report, in their order. A workload's chapter is the folder that it lies in."""

from __future__ import annotations

TITLES = {
    "node": "Node",
    "network": "Network",
    "applications": "Applications",
    "lqcd": "Lattice QCD",
    "cfd": "Fluid dynamics",
    "ocean": "Ocean models",
    "accelerators": "Accelerators",
    "dense": "Dense matrices and whole-machine kernels",
    "sparse": "Sparse matrices",
    "bench": "Your programs",
    "own": "Your workloads",
}


def place(chapter: str) -> tuple[int, str]:
    """Where a chapter comes: those of TITLES first, others after them by name."""
    return ([*TITLES, chapter].index(chapter), chapter)


def title(chapter: str) -> str:
    return TITLES.get(chapter, chapter.capitalize())


def name(chapter: str) -> str:
    """As a page's navigation names it."""
    return {"lqcd": "Lattice QCD", "cfd": "CFD", "bench": "Your programs"}.get(chapter, chapter.capitalize())
