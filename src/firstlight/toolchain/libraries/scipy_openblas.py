"""OpenBLAS from the wheel scipy-openblas32, with symbols prefixed scipy_. It is used if the system has none."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from firstlight.toolchain import Library
from firstlight.toolchain.host import Host
from firstlight.toolchain.libraries.openblas import OFFERED, VERSION
from firstlight.toolchain.offers import Candidate, prove
from firstlight.toolchain.probe_result import Found

RANK = 1  # after the system's


def probe(host: Host) -> Found[Library]:
    # The module is not imported: that would load the library into this process. Its folder has a published shape.
    spec = importlib.util.find_spec("scipy_openblas32")
    library = Path(spec.origin).parent / "lib" / "libscipy_openblas.so" if spec and spec.origin else None
    why = "the wheel scipy-openblas32 is not installed for this Python"
    if library is not None and library.exists():
        declaration, version = (text.format(prefix="scipy_") for text in VERSION)
        candidate = Candidate("openblas", "OpenBLAS", [library], OFFERED, (declaration, version), "scipy_")
        answer, gaps = prove(host, candidate)
        if isinstance(answer, Library):
            return Found((answer,), tuple(gaps))
        why = answer
    return Found(absent=(host.absent("scipy-openblas32", why, otherwise="pip install scipy-openblas32"),))
