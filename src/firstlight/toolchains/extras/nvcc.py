"""NVIDIA's CUDA compiler."""

from __future__ import annotations

from firstlight.toolchains.found import Found
from firstlight.toolchains.host import Host


def probe(host: Host) -> Found[None]:
    if host.which("nvcc"):
        return Found()
    fix = "install the CUDA toolkit, or load its module, so that nvcc is on PATH"
    return Found(absent=(host.absent("nvcc", "no nvcc on the search path", otherwise=fix),))
