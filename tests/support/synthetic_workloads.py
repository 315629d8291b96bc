"""The declarations of dot, stream, peak, latency and pingpong in invented runs, and the programs that are built."""

from __future__ import annotations

from msgspec.structs import replace

import shipped
from firstlight.model.catalogue import Bound, Plot, Provides, Role, Row, Sizes, Variant, Workload
from firstlight.model.plan import Program
from firstlight.results.description import Description, Metric, Parameter
from synthetic_figures import CHASES
from synthetic_machine import MIB, MPIS, TOOLCHAINS

RATE = Metric("rate", "Gflop/s", "flops", "rate", 1e-9, "higher")
METRICS = {
    "dot": (RATE,),
    "stream": (Metric("bandwidth", "GB/s", "bytes", "rate", 1e-9, "higher"),),
    "peak": (RATE,),
    "latency": (Metric("latency", "ns", "accesses", "time", 1e9, "lower"),),
    "pingpong": (
        Metric("latency", "us", "messages", "time", 1e6, "lower"),
        Metric("bandwidth", "GB/s", "message_bytes", "rate", 1e-9, "higher"),
    ),
}
TITLES = {
    "dot": "Scalar product",
    "stream": "Memory bandwidth",
    "peak": "Peak arithmetic",
    "latency": "Memory latency",
    "pingpong": "Messages between two ranks",
}
VARIANTS = {
    "dot": ("serial", "unrolled_8", "simd", "kahan", "blas_openblas"),
    "stream": ("omp", "omp_nontemporal"),
    "peak": ("omp",),
    "latency": ("chase",),
    "pingpong": ("mpi_blocking", "mpi_nonblocking"),
}


def description(name: str, variant: str) -> Description:
    parameters = {
        "dot": (Parameter("n", "elements", "1000", "length of the vectors"),),
        "stream": (
            Parameter("op", "", "triad", "copy, scale, add, triad or load"),
            Parameter("n", "elements", "1000", "length of each array"),
        ),
        "peak": (Parameter("precision", "bit", "64", "width of a number"),),
        "latency": (Parameter("bytes", "B", "4096", "size of the chain"),),
        "pingpong": (Parameter("bytes", "B", "8", "message size"),),
    }[name]
    return Description(name, variant, TITLES[name], parameters, METRICS[name], "see README.md",
                       "the oracle in long double", "n eps sum |x y|")  # fmt: skip


def workload(name: str) -> Workload:
    provides = {
        "stream": (
            Provides("load_bandwidth", "bandwidth", {"op": "load"}, by_working_set=True),
            Provides("copy_bandwidth", "bandwidth", {"op": "copy"}, by_working_set=True),
        ),
        "peak": (
            Provides("flops_64", "rate", {"precision": 64}),
            Provides("flops_32", "rate", {"precision": 32}),
        ),
    }
    bounds = {
        "dot": (Bound("flops", "flops_64"), Bound("bytes", "load_bandwidth")),
        "pingpong": (Bound("bytes", "copy_bandwidth"),),
    }
    rows = {
        "dot": (
            Row("scalar product in L1", "rate", 40, {"n": 1000}),
            Row("scalar product in memory", "rate", 50, {"n": 10_000_000}),
        ),
        "stream": (
            Row("memory bandwidth, 1 core", "bandwidth", 10, {"op": "triad", "n": 30_000_000}),
            Row("memory bandwidth, 2 cores", "bandwidth", 20, {"op": "triad", "n": 30_000_000}, threads=2),
        ),
        "peak": (Row("arithmetic, 64 bit, 1 core", "rate", 30, {"precision": 64}),),
        "latency": (Row("memory latency", "latency", 60, {"bytes": CHASES[-1]}),),
        "pingpong": (
            Row(
                "message latency, 8 B, 2 ranks",
                "latency",
                70,
                {"bytes": 8},
                ranks=2,
                choose="mpi",
                purpose="small messages",
            ),
            Row(
                "message bandwidth, 1 MiB",
                "bandwidth",
                80,
                {"bytes": MIB},
                ranks=2,
                choose="mpi",
                purpose="large messages",
            ),
        ),
    }
    plots = {
        "dot": (Plot("staircase", "n", "rate", "toolchain", subject="the scalar product", mark_caches=True),),
        "stream": (Plot("staircase", "n", "bandwidth", "toolchain", {"op": "triad"}, subject="triad"),),
        "peak": (Plot("roofline", "intensity", "rate", "toolchain"),),
        "latency": (Plot("staircase", "bytes", "latency", "toolchain", subject="latency of a load", mark_caches=True),),
        "pingpong": (
            Plot("message", "bytes", "latency", "mpi", subject="a message"),
            Plot("message", "bytes", "bandwidth", "mpi", subject="a message"),
        ),
    }
    needs = {"omp": ("openmp",), "mpi": ("mpi",), "blas": ("blas1",)}
    folder = shipped.folder(name)
    return Workload(
        name=name,
        folder=folder,
        title=TITLES[name],
        question=f"What does {name} show?",
        chapter="network" if name == "pingpong" else "node",
        toolchain_sensitive=name in ("dot", "stream", "peak"),
        suites={},
        variants=tuple(
            Variant(v, folder / f"{v}.cpp", needs.get(v.split("_")[0], ()), False) for v in VARIANTS[name]
        ),
        sizes=Sizes("n", 16) if name == "dot" else None,
        provides=provides.get(name, ()),
        bounded_by=bounds.get(name, ()),
        rows=rows.get(name, ()),
        plots=plots.get(name, ()),
        plain=("serial", "fortran_loop", "kahan") if name == "dot" else (),
        roles=tuple(_invented(role, name) for role in shipped.workloads()[name].roles),
    )  # fmt: skip


def _invented(role: Role, name: str) -> Role:
    """Return the shipped role with the subset of metrics and parameters that invented figures have."""
    described = description(name, VARIANTS[name][0])
    metrics, parameters = ([x.name for x in some] for some in (described.metrics, described.parameters))
    where = {key: value for key, value in role.where.items() if key in parameters}
    return replace(role, metric=role.metric if role.metric in metrics else metrics[0], where=where)


def programs() -> list[Program]:
    """Return the programs that the quick suite would build."""
    out = [Program("dot", v, t) for v in VARIANTS["dot"] if not v.startswith("blas") for t in TOOLCHAINS]
    out.append(Program("dot", "blas_openblas", "gcc-native"))
    out += [Program("stream", v, t) for v in VARIANTS["stream"] for t in ("gcc-base", "gcc-native", "clang-native")]
    out += [Program("peak", "omp", t) for t in ("gcc-base", "gcc-native", "clang-native")]
    out.append(Program("latency", "chase", "gcc-native"))
    out += [Program("pingpong", v, "gcc-native", m) for v in VARIANTS["pingpong"] for m in MPIS]
    return out
