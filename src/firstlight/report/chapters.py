"""Chapters: the sections of a report, in their order. A workload's chapter is the folder that it lies in."""

from __future__ import annotations

TITLES = {
    "node": "What the node gives",
    "network": "What the network gives",
    "applications": "What applications get",
    "lqcd": "What lattice QCD gets",
    "cfd": "What fluid dynamics gets",
    "ocean": "What ocean models get",
    "accelerators": "What one core, all cores and a GPU give the same application",
    "dense": "What dense matrices and whole-machine kernels get",
    "sparse": "What sparse matrices get",
    "bench": "What your own programs get",
    "own": "What your own workloads get",
}


def place(chapter: str) -> tuple[int, str]:
    """Where a chapter comes: those of TITLES first, others after them by name."""
    return ([*TITLES, chapter].index(chapter), chapter)


def title(chapter: str) -> str:
    return TITLES.get(chapter, chapter.capitalize())


def name(chapter: str) -> str:
    """As a page's navigation names it."""
    return {"lqcd": "Lattice QCD", "cfd": "CFD", "bench": "Your programs"}.get(chapter, chapter.capitalize())
