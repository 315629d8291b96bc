"""Chapters: the sections of a report, in their order. The chapter of a workload is the folder that contains it."""

from __future__ import annotations

TITLES = {
    "node": "Node",
    "network": "Messages between ranks",
    "applications": "Applications",
    "lqcd": "Lattice QCD",
    "cfd": "Fluid dynamics",
    "ocean": "Ocean models",
    "accelerators": "Codes with GPU variants",
    "dense": "Dense matrices and whole-machine kernels",
    "sparse": "Sparse matrices",
    "storage": "Storage",
    "bench": "Your programs",
    "own": "Your workloads",
    "imported": "Reported by other tools, not verified",
}


def place(chapter: str) -> tuple[int, str]:
    """Return the sort key of a chapter: those of TITLES first, others after them by name."""
    return ([*TITLES, chapter].index(chapter), chapter)


def title(chapter: str) -> str:
    return TITLES.get(chapter, chapter.capitalize())


def name(chapter: str) -> str:
    """Return the name of a chapter in a page's navigation."""
    names = {"lqcd": "Lattice QCD", "cfd": "CFD", "bench": "Your programs", "imported": "Other tools"}
    return (names | {"network": "Messages", "accelerators": "GPU codes"}).get(chapter, chapter.capitalize())
