"""Samples of /proc/cpuinfo on many kinds of processors, shortened to one block for each of a few CPUs."""

from __future__ import annotations

from collections.abc import Sequence

AVX512 = "fpu sse2 fma avx avx2 avx512f avx512dq"
AVX2 = "fpu sse2 fma avx avx2"


def x86(vendor: str, family: int, model: int, name: str, flags: str, cpus: int = 2) -> str:
    block = (
        f"vendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: {model}\nmodel name\t: {name}\nflags\t\t: {flags}\n"
    )
    return "\n".join(f"processor\t: {cpu}\n{block}" for cpu in range(cpus))


def amd(family: int, model: int, name: str, flags: str = AVX512) -> str:
    return x86("AuthenticAMD", family, model, name, flags)


def intel(model: int, name: str, flags: str = AVX512, cpus: int = 2) -> str:
    return x86("GenuineIntel", 6, model, name, flags, cpus)


def arm(implementer: int, parts: Sequence[int], features: str = "fp asimd") -> str:
    return "\n".join(
        f"processor\t: {cpu}\nBogoMIPS\t: 50.00\nFeatures\t: {features}\nCPU implementer\t: {implementer:#04x}\n"
        f"CPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: {part:#05x}\n"
        for cpu, part in enumerate(parts)
    )


def power(cpu: str, platform: str, cpus: int = 2) -> str:
    blocks = [f"processor\t: {n}\ncpu\t\t: {cpu}, altivec supported\nclock\t\t: 3800.0MHz\n" for n in range(cpus)]
    return "\n".join([*blocks, f"timebase\t: 512000000\nplatform\t: {platform}\nmachine\t\t: {platform} 8335-GTH\n"])
