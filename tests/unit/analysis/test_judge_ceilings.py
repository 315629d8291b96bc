"""Ceilings come from the run's measurements, never from the figure itself, and no verified figure exceeds one."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

import synthetic
import synthetic_machine
import synthetic_workloads
from firstlight.analysis import Judgement
from firstlight.analysis.ceilings import Allowed, measured_limits, of_node, total
from firstlight.analysis.figures import judge
from firstlight.analysis.levels import nominal
from firstlight.analysis.outcome import outcome
from firstlight.analysis.verdict import Failed, Figure, Limit, Unverified, Verified
from firstlight.model.catalogue import Bound, Provides, Sizes
from firstlight.model.plan import Placement
from firstlight.report import frame
from firstlight.results.record import LaunchRecord


def figures(j: Judgement, workload: str, **parameters: object) -> list[Figure]:
    return [
        f
        for f in j.figures
        if f.identity.workload == workload and parameters.items() <= dict(f.identity.parameters).items()
    ]


@pytest.fixture(scope="module")
def scene() -> synthetic.Scene:
    return synthetic.run(5, 7)


@pytest.fixture(scope="module")
def judged(scene: synthetic.Scene) -> Judgement:
    return judge(*scene)


def test_the_fullest_node_counts(judged: Judgement) -> None:
    figure = next(f for f in judged.figures if isinstance(f, Verified))
    uneven = replace(figure, identity=replace(figure.identity, placement=Placement(2, 3, 2)), working_set=1e6)
    assert of_node(uneven.identity) == 4 and total(uneven) == 2e6


def test_limits_are_the_best_by_cores_and_working_set(judged: Judgement) -> None:
    limits = {(x.name, x.cores, x.working_set): x for x in judged.limits}
    best = max(
        max(f.estimate.launches)
        for f in figures(judged, "stream", op="load", n=1000)
        if isinstance(f, Verified) and f.identity.placement.threads == 2
    )
    limit = limits["load_bandwidth", 2, 16_000]
    assert limit.value == pytest.approx(best * 1e9)
    assert limit.low <= limit.value <= limit.high and limit.sure
    assert limits["flops_64", 1, None].value == pytest.approx(52e9, rel=0.03)
    assert limits["flops_32", 2, None].value == pytest.approx(208e9, rel=0.03)


def test_the_binding_resource_sets_the_ceiling(judged: Judgement) -> None:
    for f in figures(judged, "dot", n=10_000_000):
        if isinstance(f, Verified):
            assert f.ceiling is not None
            assert f.ceiling.resource == "load_bandwidth"
            assert f.ceiling.value == pytest.approx(14.2 * 2 / 16, rel=0.03)
            assert f.ceiling.low <= f.ceiling.value <= f.ceiling.high
            assert f.of_ceiling == pytest.approx(f.estimate.median / f.ceiling.value)


def test_a_slow_peak_binds_instead(scene: synthetic.Scene) -> None:
    slow = synthetic.run(5, 7, slower={"peak": 10.0, "dot": 10.0})
    for f in figures(judge(*slow), "dot", n=1000):
        if isinstance(f, Verified):
            assert f.ceiling is not None and f.ceiling.resource == "flops_64"
            assert f.ceiling.value == pytest.approx(5.2, rel=0.03)


def test_share_of_a_time(judged: Judgement) -> None:
    """A latency's ceiling is the least time; rate and time of one case have the same share."""
    by_metric = {f.identity.metric: f for f in figures(judged, "pingpong", bytes=1024**2) if isinstance(f, Verified)}
    latency, bandwidth = by_metric["latency"], by_metric["bandwidth"]
    assert latency.ceiling is not None and latency.ceiling.value < latency.estimate.median
    assert latency.of_ceiling == pytest.approx(bandwidth.of_ceiling, rel=1e-6)


def on_a_gpu(figure: Verified, times: float) -> Verified:
    """Return the figure of a variant in CUDA that is this many times faster."""
    launches = tuple(times * x for x in figure.estimate.launches)
    estimate = replace(figure.estimate, launches=launches, median=times * figure.estimate.median)
    return replace(figure, identity=replace(figure.identity, variant="cuda"), estimate=estimate)


def test_what_a_gpu_measures_is_no_ceiling_of_the_processors_nor_theirs_one_of_a_gpu(
    scene: synthetic.Scene, judged: Judgement
) -> None:
    run, _, workloads = scene
    host = [f for f in figures(judged, "stream", op="load", n=1000) if isinstance(f, Verified)]
    gpu = replace(on_a_gpu(host[0], 100.0), diverged=1.0)  # it waits for its device, and is not disturbed
    metrics = {d: described.metrics for d, described in run.descriptions.items()}
    metrics |= {"stream.cuda": metrics[f"stream.{host[0].identity.variant}"]}
    declared = Provides("device_load_bandwidth", "bandwidth", {"op": "load"}, by_working_set=True, device=True)
    stream = replace(workloads["stream"], provides=(*workloads["stream"].provides, declared))
    both = {x.name: x for x in measured_limits([*host, gpu], metrics, {"stream": stream}, run.machine)}
    alone = {x.name: x for x in measured_limits(host, metrics, {"stream": stream}, run.machine)}
    assert both == alone | {"device_load_bandwidth": both["device_load_bandwidth"]}
    assert both["device_load_bandwidth"].source == gpu.identity and both["device_load_bandwidth"].diverged == 0

    limits, metric = tuple(both.values()), metrics["stream.cuda"][0]
    for device, resource in ((False, None), (True, "device_load_bandwidth")):
        bound = Bound("bytes", "device_load_bandwidth" if device else "load_bandwidth", device=device)
        other = replace(stream, provides=(), bounded_by=(bound,))
        found = Allowed(limits, run.machine).ceiling(gpu, metric, other)
        assert (found.resource if found else None) == resource


def test_a_provider_has_no_ceiling(judged: Judgement) -> None:
    providers = [*figures(judged, "peak"), *figures(judged, "stream", op="load")]
    assert providers
    assert all(isinstance(f, Verified) and f.ceiling is None for f in providers)


def test_no_ceiling_where_none_was_measured_near(judged: Judgement) -> None:
    assert all(f.ceiling is None for f in figures(judged, "pingpong", bytes=8) if isinstance(f, Verified))
    alone = judge(*synthetic.run(5, 7, only=["dot"]))
    assert all(f.ceiling is None for f in alone.figures if isinstance(f, Verified))


@pytest.mark.parametrize("launches", [4, 7])
@pytest.mark.parametrize("workload", ["dot", "pingpong"])
def test_above_the_ceiling_fails(workload: str, launches: int) -> None:
    """The test includes too few launches for intervals, and times as well as rates."""
    n: dict[str, object] = {"n": 10_000_000} if workload == "dot" else {"bytes": 1024**2}
    j = judge(*synthetic.run(5, launches, slower={"dot.simd": 0.5, "pingpong": 0.2}))
    above = [f for f in figures(j, workload, **n) if isinstance(f, Failed) and f.cause == "ceiling"]
    assert {f.identity.variant for f in above} >= ({"simd"} if workload == "dot" else {"mpi_blocking"})
    assert {f.identity.metric for f in above} == {m.name for m in synthetic_workloads.METRICS[workload]}
    assert all(f.reason.startswith("above its measured ceiling: ") for f in above)
    assert "serial" not in {f.identity.variant for f in above}


def test_what_remembers_instead_of_computing_is_above_the_ceiling() -> None:
    """A step that adds one term to a sum it kept is verified by its check and impossible by any ceiling, also where
    one of its two was not measured."""
    for ceilings in (("peak", "stream"), ("peak",)):
        j = judge(*synthetic.run(5, 6, only=("dot", *ceilings), slower={"dot.simd": 1e-5}))
        found = [f for f in figures(j, "dot") if f.identity.variant == "simd"]
        assert found and all(isinstance(f, Failed) and f.cause == "ceiling" for f in found)
        assert all(isinstance(f, Failed) and "above its measured ceiling: " in f.reason for f in found)


def with_others_beside(scene: synthetic.Scene, *workloads: str, share: float = 1.0) -> synthetic.Scene:
    """Return the scene with other processes on the processors during a share of the samples of these workloads."""
    cells = {c.id for c in scene.run.cells if c.program.workload in workloads}

    def disturbed(record: LaunchRecord) -> LaunchRecord:
        if record.start.cell not in cells:
            return record
        some = [replace(s, cpu=0.6 if k % 20 < share * 20 else 1.0) for k, s in enumerate(record.samples)]
        return replace(record, samples=tuple(some))

    return scene._replace(records=tuple(map(disturbed, scene.records)))


@pytest.mark.parametrize("launches", [1, 4, 7])
@pytest.mark.parametrize(("workload", "ceilings"), [("dot", ("stream", "peak")), ("pingpong", ("stream",))])
def test_above_a_ceiling_that_was_disturbed_nothing_fails(
    workload: str, ceilings: tuple[str, ...], launches: int
) -> None:
    scene = synthetic.run(5, launches, slower={"dot.simd": 0.3, "pingpong": 0.2}, failed_build=False)
    quiet, loud = judge(*scene), judge(*with_others_beside(scene, *ceilings))
    above = {f.identity for f in figures(quiet, workload) if isinstance(f, Failed) and f.cause == "ceiling"}
    found = [f for f in loud.figures if f.identity in above]
    assert above and all(isinstance(f, Unverified) and f.cause == "ceiling" for f in found)
    assert all("above its measured ceiling" in f.reason and "quiet machine" in f.reason for f in found if f.reason)
    assert ("dot", "simd") in outcome(quiet).failed
    assert ("dot", "simd") not in outcome(loud).failed


@pytest.mark.parametrize(
    ("disturbed", "share", "slower", "fails"),
    [
        (("stream",), 1.0, 0.3, False),  # the bound that refutes it was disturbed, the other one allows it
        (("peak",), 1.0, 0.3, True),  # only the irrelevant bound was disturbed
        (("stream", "peak"), 0.6, 0.3, False),
        (("stream", "peak"), 0.0, 0.3, True),
        (("dot",), 1.0, 0.3, True),  # a disturbance of the figure itself cannot have made it fast
        (("stream", "peak"), 1.0, 1e-5, True),  # no disturbance explains the distance
    ],
)
def test_only_what_a_disturbance_explains_is_unverified(
    disturbed: tuple[str, ...], share: float, slower: float, fails: bool
) -> None:
    scene = synthetic.run(5, 7, slower={"dot.simd": slower}, failed_build=False)
    j = judge(*with_others_beside(scene, *disturbed, share=share))
    found = [f for f in figures(j, "dot", n=10_000_000) if f.identity.variant == "simd"]
    above = [f for f in found if isinstance(f, Failed | Unverified)]
    assert above and all(isinstance(f, Failed) == fails for f in above)


@pytest.mark.parametrize(
    ("provider", "others", "unit"), [("stream", "dot", "GB/s"), ("peak", "dot", "Gflop/s")], ids=["bytes", "flops"]
)
def test_a_ceiling_is_bounded_by_physics(provider: str, others: str, unit: str) -> None:
    """A provider that stores only what changed fails, and provides no ceiling for others."""
    honest, fast = (
        judge(*synthetic.run(5, 6, only=(provider, others), slower=s, failed_build=False))
        for s in ({}, {provider: 1e-5})
    )
    sources = {x.source for x in honest.limits}
    found = [f for f in figures(fast, provider) if f.identity in sources]
    assert found and all(isinstance(f, Failed) and f.cause == "ceiling" for f in found)
    for f in found:
        assert (
            isinstance(f, Failed)
            and f.reason.startswith("faster than any processor: ")
            and f" {unit}, but " in f.reason
        )
    assert not [f for f in figures(honest, provider) if isinstance(f, Failed) and f.cause == "ceiling"]
    assert honest.limits and not fast.limits


def test_noise_is_not_above_the_ceiling() -> None:
    for seed in range(3):
        j = synthetic.judgement(seed, 7, noise=0.05)
        assert not [f for f in j.figures if isinstance(f, Failed) and f.cause == "ceiling"]


def test_near_the_edge_of_a_cache_either_limit_may_apply(scene: synthetic.Scene) -> None:
    """A working set between two measured ones, one inside and one outside a cache, is not compared with the lower."""
    j = judge(*scene)
    inside = next(x for x in j.limits if x.name == "load_bandwidth" and x.cores == 1 and x.working_set == 16_000)
    (figure,) = [
        f
        for f in figures(j, "dot", n=1000)
        if isinstance(f, Verified) and f.identity.variant == "simd" and f.identity.toolchain == "gcc-native"
    ]
    outside = replace(inside, working_set=70_000.0, value=inside.value / 2, low=inside.low / 2, high=inside.high / 2)
    between = replace(figure, working_set=40_000.0, ceiling=None)  # of which 32 KiB fit into L1
    other = replace(scene.workloads["dot"], bounded_by=(Bound("bytes", "load_bandwidth"),))
    allowed = Allowed((inside, outside), scene.run.machine)
    bounded = replace(between, ceiling=allowed.ceiling(between, synthetic_workloads.RATE, other))
    assert bounded.of_ceiling is not None and bounded.of_ceiling > 1.5
    assert allowed.impossible(bounded, synthetic_workloads.RATE, other) is None
    alone = Allowed((outside,), scene.run.machine)
    assert alone.impossible(bounded, synthetic_workloads.RATE, other)


def test_oversubscribed_figures_set_no_limit() -> None:
    one = synthetic.run(1, 6, only=["peak"], on=synthetic_machine.machine(cpus=(0,), cores=1))
    assert {x.cores for x in judge(*one).limits} == {1}


def test_selection_by_variant_and_symbolic_size(scene: synthetic.Scene) -> None:
    stream, dot = scene.workloads["stream"], scene.workloads["dot"]
    sizes = Sizes("n", 16, memory_bytes_per_element=8 * 4 * 1024**2 * 4 / 10_000_000)
    provides = Provides("load_bandwidth", "bandwidth", {"op": "load", "n": "memory"}, ["omp_non*"])
    workloads = scene.workloads | {
        "stream": replace(stream, provides=(provides,), sizes=sizes),
        "dot": replace(dot, bounded_by=(Bound("bytes", "load_bandwidth", {"n": "10000000"}, ["s*"]),)),
    }
    j = judge(scene.run, scene.records, workloads)
    loads = [x.source for x in j.limits if x.name == "load_bandwidth"]
    assert {(s.variant, dict(s.parameters)["n"]) for s in loads} == {("omp_nontemporal", 10_000_000)}
    # bound by the slow variant's 0.7 x 14.2 GB/s, dot is above: impossible, so it fails; others stay unbounded
    impossible = {f.identity.variant for f in j.figures if isinstance(f, Failed) and f.cause == "ceiling"}
    assert impossible == {"serial", "simd"}
    assert not [f for f in j.figures if isinstance(f, Verified) and f.ceiling]


def reading(judged: Judgement) -> tuple[Verified, Limit]:
    """Return a figure that reads, and a limit of reading that tests change."""
    figure = next(f for f in figures(judged, "dot", n=1000) if isinstance(f, Verified))
    limit = next(x for x in judged.limits if x.name == "load_bandwidth" and x.cores == 1 and x.working_set == 16_000)
    return figure, limit


BYTES = (Bound("bytes", "load_bandwidth"),)


def test_the_ceiling_is_that_of_the_level_of_the_working_set(scene: synthetic.Scene, judged: Judgement) -> None:
    """Data larger than the last cache are not compared with measurements inside it, however close these are."""
    figure, limit = reading(judged)
    cached, memory = replace(limit, working_set=24e6, value=116e9), replace(limit, working_set=4e8, value=57e9)
    dot = replace(scene.workloads["dot"], bounded_by=BYTES)
    allowed = Allowed((cached, memory), scene.run.machine)

    def rate(size: float, by: Allowed = allowed) -> float | None:
        found = by.ceiling(replace(figure, working_set=size, ceiling=None), synthetic_workloads.RATE, dot)
        return 8 * found.value if found else None

    assert rate(33.6e6) == pytest.approx(57)  # the last cache has 32 MiB
    assert rate(20e6) == pytest.approx(116)
    acts = nominal(scene.run.machine)
    acts = replace(acts, levels=(*acts.levels[:-1], replace(acts.levels[-1], acts=16 * 2.0**20)))
    shared = Allowed((cached, memory), scene.run.machine, acts)
    assert rate(20e6, shared) == pytest.approx(57)
    assert rate(24.1e6, shared) == pytest.approx(116), "the same data were measured"
    assert rate(16e6, shared) == pytest.approx(116)
    # A possible contribution of the cache sets no ceiling for memory.
    assert shared.roof("load_bandwidth", 1, "memory") == memory
    assert shared.roof("load_bandwidth", 1, "L3") == cached


def test_what_a_cache_may_still_serve_is_possible(scene: synthetic.Scene, judged: Judgement) -> None:
    """A cache of 32 MiB may serve 40 % of 80 MiB; a rate that this explains is possible, twice the roof is not."""
    figure, limit = reading(judged)
    cached, memory = (
        replace(limit, working_set=size, value=rate, low=rate, high=rate) for size, rate in ((8e6, 132e9), (4e8, 48e9))
    )
    dot = replace(scene.workloads["dot"], bounded_by=BYTES)
    reasons = {}
    for rate in (48.0, 60.0, 100.0):
        allowed = Allowed((cached, memory), scene.run.machine)
        e = replace(figure.estimate, median=rate / 8, low=rate / 8, high=rate / 8, launches=(rate / 8,) * 6)
        swept = replace(figure, working_set=80.0 * 2**20, estimate=e, ceiling=None)
        bounded = replace(swept, ceiling=allowed.ceiling(swept, synthetic_workloads.RATE, dot))
        reasons[rate] = allowed.impossible(bounded, synthetic_workloads.RATE, dot)
        allowed.raise_ceiling(bounded, synthetic_workloads.RATE, dot)
        after = allowed.ceiling(swept, synthetic_workloads.RATE, dot)
        assert after is not None and after.value == pytest.approx(max(rate, 48) / 8) and after.own == (rate > 48)
    above = reasons[100.0]
    assert (reasons[48.0], reasons[60.0]) == (None, None)
    assert above is not None and above.sure and above.reason.startswith("above its measured ceiling")


def test_no_share_where_one_of_the_bounds_was_not_measured(scene: synthetic.Scene) -> None:
    """A kernel in 32 bits without the arithmetic of 32 bits has no share of a bandwidth that may not be what binds."""
    dot = replace(scene.workloads["dot"], bounded_by=(Bound("flops", "flops_16"), *BYTES))
    j = judge(scene.run, scene.records, scene.workloads | {"dot": dot})
    mine = [f for f in figures(j, "dot") if isinstance(f, Verified)]
    assert mine and all(f.ceiling is None for f in mine)


def test_what_is_verified_is_never_above_its_ceiling(scene: synthetic.Scene) -> None:
    """A value slightly above the measured ceiling is possible: then its own best launch is the measured capacity, for
    all figures of the same kind, and the figure names it.
    """
    for faster in (0.97, 0.93, 0.80, 0.70):
        j = judge(*synthetic.run(5, 4, slower={"dot": faster, "dot.simd": faster}))
        bounded = [f for f in j.figures if isinstance(f, Verified) and f.of_ceiling is not None]
        assert bounded and all(f.of_ceiling <= 1 for f in bounded if f.of_ceiling is not None)
        own = [f for f in bounded if f.ceiling is not None and f.ceiling.own]
        assert own or faster > 0.9
        for f in own:
            assert f.ceiling is not None and "the best launch of its kind" in frame.share(f)
            same = [
                g.ceiling.value
                for g in figures(j, "dot", n=dict(f.identity.parameters)["n"])
                if isinstance(g, Verified) and g.ceiling and g.identity.placement == f.identity.placement
            ]
            assert same == [pytest.approx(f.ceiling.value)] * len(same)


def test_a_foreign_record_may_declare_any_working_set(scene: synthetic.Scene, judged: Judgement) -> None:
    """Two ranks of 1e308 bytes exceed the range of a number."""
    figure, limit = reading(judged)
    place = replace(figure.identity.placement, ranks=2)
    huge = replace(figure, working_set=1e308, identity=replace(figure.identity, placement=place), ceiling=None)
    dot = replace(scene.workloads["dot"], bounded_by=BYTES)
    allowed = Allowed((replace(limit, cores=2),), scene.run.machine)
    assert allowed.ceiling(huge, synthetic_workloads.RATE, dot) is None
