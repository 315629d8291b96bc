"""The algorithms of collectives and their checker, compiled for drivers that need no MPI."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import drivers
from firstlight import ROOT

FOLDER = ROOT / "native" / "collectives"
NAMES = sorted(path.stem for path in (FOLDER / "algorithms").glob("*.cpp"))
SOURCES = [path for room in ("algorithms", "src") for path in sorted((FOLDER / room).glob("*.cpp"))]
FLAGS = ("-O1", "-g0", "-D_GLIBCXX_ASSERTIONS", "-Wall", "-Wextra", "-Werror", f"-I{FOLDER}/include")
SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
REGISTRY = f"""
#include "firstlight/collectives/algorithm.hpp"
namespace fl::collectives {{
namespace algorithms {{ {"".join(f"extern const Algorithm {name};" for name in NAMES)} }}
std::span<const Algorithm* const> all_algorithms() {{
  static const Algorithm* const all[] = {{{", ".join(f"&algorithms::{name}" for name in NAMES)}}};
  return all;
}}
}}
"""


def driver(source: Path, sanitized: Iterable[str] = ()) -> Path:
    """Build the program from `source` and all algorithms, with sanitizers in the named files and in `source`."""
    plain = [path for path in SOURCES if path.stem not in sanitized]
    watched = [path for path in SOURCES if path.stem in sanitized]
    parts = drivers.objects([drivers.written("registry.cpp", REGISTRY), *plain], *FLAGS, ahead=drivers.STANDARD)
    if not watched:
        return drivers.linked(source.stem, [*parts, *drivers.objects([source], *FLAGS)])
    parts += drivers.objects([source, *watched], *FLAGS, "-O0", *SANITIZE)
    return drivers.linked(source.stem, parts, *SANITIZE)
