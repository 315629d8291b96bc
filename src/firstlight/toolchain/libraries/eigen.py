"""Eigen 3 of the system, or of a module: headers only, so the toolchain under test compiles it."""

from __future__ import annotations

from pathlib import Path

from firstlight.toolchain import Library
from firstlight.toolchain.host import Host
from firstlight.toolchain.offers import Candidate, prove
from firstlight.toolchain.probe_result import Found


def probe(host: Host) -> Found[Library]:
    names = ("EIGEN_ROOT", "EIGEN3_ROOT", "EBROOTEIGEN", "EIGEN_DIR")
    roots = [Path(host.environ[name]) for name in names if host.environ.get(name)]
    folders = [folder for root in roots for folder in (root, root / "include" / "eigen3", root / "include")]
    folders += [Path(root) / "include" / "eigen3" for root in ("/usr/local", "/usr")]
    place = next((f for f in folders if host.shows(f) and (f / "Eigen" / "SparseCore").exists()), None)
    why = "no Eigen/SparseCore at $EIGEN_ROOT or in /usr/include/eigen3"
    if place is not None:
        line = 'std::printf("%d.%d.%d", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);'
        flags = ("-isystem", str(place), "-DFL_SPARSE_EIGEN")
        candidate = Candidate("eigen", "Eigen", [], ("sparse",), ("", line), compile_flags=flags)
        answer, _ = prove(host, candidate)
        if isinstance(answer, Library):
            return Found((answer,))
        why = answer
    return Found(absent=(host.absent("Eigen", why, apt="libeigen3-dev", dnf="eigen3-devel"),))
