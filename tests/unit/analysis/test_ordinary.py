"""Advice about flags for ordinary code comes from plain kernels alone, and names the effects of the flags."""

from __future__ import annotations

import re

from msgspec.structs import replace

from firstlight.analysis import Judgement, provenance
from firstlight.analysis.flags_advice import advice
from firstlight.analysis.ordinary import Kernel, Ordinary, kernels, ordinary, preferred
from firstlight.analysis.verdict import Estimate, Failed, Figure, States, Verified
from firstlight.model.catalogue import Row, Variant, Workload
from firstlight.report import verdict
from report_samples import sample

PLAIN = ("dot.serial", "dot.fortran_loop", "dot.kahan")
FAST, NATIVE = "clang-fast", "gcc-native"


def compared(judgement: Judgement, workloads: dict[str, Workload]) -> Ordinary:
    found = ordinary(judgement, workloads)
    assert found is not None
    return found


def changed(judgement: Judgement, *figures: Figure) -> Judgement:
    known = {f.identity: f for f in figures}
    return replace(judgement, figures=tuple(known.get(f.identity, f) for f in judgement.figures))


def test_flags_for_ordinary_code_are_not_those_of_tuned_variants() -> None:
    """Explicit vectors are as fast with native flags; the plain sum gains only by flags that allow reordering."""
    judgement, workloads = sample()
    found = compared(judgement, workloads)
    assert all(kernel.program in PLAIN for kernel in found.kernels)
    first = found.flags[0]
    assert first.toolchain == FAST and first.broken == ("dot.kahan",) and first.worst is None
    native = next(f for f in found.flags if f.toolchain == NATIVE)
    assert native.factor > 3 and native.kernel == "scalar product in L1, dot.serial"
    sentence = provenance.settle(advice(found))
    assert (
        sentence.startswith("the fastest is clang-fast (-Ofast -march=native): as good as the best in ")
        and "but its results are wrong in dot.kahan" in sentence
    )
    assert ".\nWithout wrong results, use any other flags: no difference in 4 kernels.\nThe price: up to " in sentence
    assert len(sentence.sources) >= 5


def test_flags_whose_largest_loss_is_smaller_are_named_as_well() -> None:
    judgement, workloads = sample()
    for f in judgement.figures:
        i = f.identity
        large = i.variant == "serial" and dict(i.parameters).get("n") == 10_000_000
        if isinstance(f, Verified) and large and i.toolchain.endswith("fast"):
            e = f.estimate
            slower = Estimate(e.median / 2, e.median / 2.02, e.median / 1.98, tuple(x / 2 for x in e.launches))
            judgement = changed(judgement, replace(f, estimate=slower, states=None))
    of = {f.toolchain: f for f in compared(judgement, workloads).flags}
    both = replace(compared(judgement, workloads), flags=(of[NATIVE], of["gcc-fast"]))
    sentence = provenance.settle(advice(both))
    assert sentence.startswith("use gcc-native (-O3 -march=native): ") and "check your results" not in sentence
    unbroken = replace(of["gcc-fast"], broken=())
    relaxed = advice(replace(both, flags=(unbroken, of[NATIVE])))
    assert ". -Ofast reorders sums and assumes no NaN: check your results" in relaxed
    assert re.search(
        r"\.\ngcc-fast \(.*\) loses less in the worst kernel \(.* x\), but its results are wrong in dot\.kahan$",
        sentence,
    )
    assert "largest loss" not in advice(replace(both, flags=(of["gcc-base"], of[NATIVE])))


def test_without_a_fortran_compiler_the_advice_says_so() -> None:
    judgement, workloads = sample()
    missing = ". Fortran was not measured: no compiler was found"
    assert missing not in verdict.flags(judgement, workloads)
    tools = judgement.run.toolbox
    chains = tuple(replace(t, fortran=None, fortran_version=None) for t in tools.toolchains)
    run = replace(judgement.run, toolbox=replace(tools, toolchains=chains))
    assert verdict.flags(replace(judgement, run=run), workloads).endswith(missing)


def test_kernels_without_the_best_compiler_have_flags_of_their_own() -> None:
    """The machine has no Fortran compiler of clang."""
    judgement, workloads = sample()
    dot = workloads["dot"]
    variants = (*dot.variants, Variant("fortran_loop", dot.folder / "fortran_loop.f90", ("fortran",), broken=False))
    plain = workloads | {"dot": replace(dot, plain=("serial", "fortran_loop"), variants=variants)}
    loops = [f for f in judgement.figures if f.identity.variant == "serial" and f.identity.toolchain.startswith("gcc")]
    fortran = [replace(f, identity=replace(f.identity, variant="fortran_loop")) for f in loops]
    more = replace(judgement, figures=(*judgement.figures, *fortran))
    sentence = provenance.settle(advice(compared(more, plain)))
    assert sentence.startswith(f"the fastest is {FAST}") and sentence.endswith(
        ".\nFor Fortran (scalar product in L1, dot.fortran_loop; scalar product in memory, dot.fortran_loop): "
        "gcc-fast (-Ofast -march=native), but its results are wrong in dot.kahan; without wrong results, "
        "any other flags. -Ofast reorders sums and assumes no NaN: check your results"
    )
    found = compared(more, plain)
    assert found is not None
    safe = next(f for f in found.flags if f.toolchain == "clang-native")
    sentence = provenance.settle(advice(replace(found, flags=(safe, *(f for f in found.flags if f is not safe)))))
    assert sentence.endswith(", any other flags. -Ofast reorders sums and assumes no NaN: check your results")
    assert "\nFor " not in advice(compared(judgement, plain))


def test_flags_are_ordered_by_the_kernels_that_all_of_them_measured() -> None:
    """Losses in Fortran do not count against the only compiler that compiles it."""
    judgement, workloads = sample()
    plain = workloads | {"dot": replace(workloads["dot"], plain=("serial", "fortran_loop"))}
    loops = [f for f in judgement.figures if isinstance(f, Verified) and f.identity.variant == "serial"]
    slow = Estimate(0.1, 0.09, 0.11, (0.1,) * 8)
    fortran = [
        replace(
            f, identity=replace(f.identity, variant="fortran_loop"), estimate=slow if name == NATIVE else f.estimate
        )
        for f in loops
        if (name := f.identity.toolchain).startswith("gcc")
    ]
    more = compared(replace(judgement, figures=(*judgement.figures, *fortran)), plain)
    assert [f.toolchain for f in more.flags] == [f.toolchain for f in compared(judgement, plain).flags]


def test_without_plain_variants_there_is_no_advice() -> None:
    judgement, workloads = sample()
    tuned = {name: replace(w, plain=()) for name, w in workloads.items()}
    assert ordinary(judgement, tuned) is None and advice(None) == ""


def test_one_kernel_is_too_few() -> None:
    judgement, workloads = sample()
    one = workloads | {"dot": replace(workloads["dot"], plain=("serial",), rows=workloads["dot"].rows[:1])}
    assert len(kernels(judgement, one)) == 1 and ordinary(judgement, one) is None


def test_few_kernels_of_a_run_without_time_for_the_others_support_no_advice() -> None:
    judgement, workloads = sample()
    whole = compared(judgement, workloads)
    assert whole.planned == len(kernels(judgement, workloads)) == len(whole.kernels)
    some = {f.identity for k in whole.kernels[:2] for f in k.figures.values()}
    plain = {f.identity for k in whole.kernels for f in k.figures.values()}
    left = tuple(f for f in judgement.figures if f.identity in some or f.identity not in plain)
    few = compared(replace(judgement, figures=left), workloads)
    assert len(few.kernels) == 2 and few.planned == whole.planned
    sentence = provenance.settle(advice(replace(few, planned=5)))
    assert sentence == "no advice: flags were compared in 2 kernels, fewer than half of the planned ones"
    assert sentence.sources


def test_too_few_launches_support_no_advice() -> None:
    judgement, workloads = sample(1, 3)
    assert ordinary(judgement, workloads) is None


def test_where_nothing_differs_any_flags_will_do() -> None:
    judgement, workloads = sample()
    same = Estimate(10.0, 9.9, 10.1, (10.0,) * 8)
    plain = [
        f for f in judgement.figures if isinstance(f, Verified) and f.identity.variant in ("serial", "fortran_loop")
    ]
    right = tuple(f for f in judgement.figures if not isinstance(f, Failed))
    alike = changed(replace(judgement, figures=right), *(replace(f, estimate=same, states=None) for f in plain))
    assert provenance.settle(advice(compared(alike, workloads))).startswith("any: no difference in ")


def test_an_interval_that_meets_the_best_is_as_good() -> None:
    judgement, workloads = sample()
    of = {f.identity.toolchain: f for k in kernels(judgement, workloads) for f in k.verified.values()
          if k.program == "dot.serial" and k.title == "scalar product in L1"}  # fmt: skip
    best = of[FAST].estimate
    wide = replace(
        of[NATIVE], estimate=Estimate(best.median * 0.8, best.median * 0.5, best.median * 1.2, best.launches)
    )
    native = next(f for f in compared(changed(judgement, wide), workloads).flags if f.toolchain == NATIVE)
    assert native.worst is None or native.kernel != "scalar product in L1, dot.serial"


def test_flags_that_are_close_to_the_best_are_named_and_the_safest_of_them_is_advised() -> None:
    """The fastest flags by one kernel differ from run to run."""
    judgement, workloads = sample()
    found = compared(judgement, workloads)
    of = {f.toolchain: f for f in found.flags}
    native, fast = of[NATIVE], replace(of["gcc-fast"], broken=())
    title, many = native.kernels[0], 8

    def scaled(name: str, wins: str) -> Verified:
        best = title.verified[NATIVE]
        x = best.estimate.median / (1 if name in wins else 1.2)
        return replace(best, estimate=Estimate(x, x * 0.99, x * 1.01, (x,) * 8), states=None)

    for wins in range(many):
        winners = [f"{NATIVE} gcc-fast", *("gcc-fast" if n < wins else NATIVE for n in range(many - 1))]
        figures = [{name: scaled(name, winner) for name in (NATIVE, "gcc-fast")} for winner in winners]
        some = tuple(Kernel(title.title, f"dot.k{n}", both) for n, both in enumerate(figures))
        flags = [replace(f, kernels=some) for f in (fast, native)]
        best_first = sorted(flags, key=lambda f: -f.near)
        text = provenance.settle(advice(Ordinary(some, tuple(preferred(best_first)), many)))
        assert text.startswith(f"use {'gcc-fast' if wins > 4 else NATIVE} "), text
        assert ("gcc-fast (-Ofast -march=native) is about as good: " in text) == (wins in (3, 4)), text


def invented_kernels(losses: dict[str, list[float]]) -> Ordinary:
    """Return flag sets that lose by these factors in the kernels; gcc-base shows what the best reaches."""
    judgement, workloads = sample()
    found = compared(judgement, workloads)
    pattern = found.flags[0].kernels[0].verified[NATIVE]
    of = {f.toolchain: replace(f, broken=()) for f in found.flags}
    many = len(next(iter(losses.values())))
    losses = losses | {"gcc-base": [1.0 if min(x[n] for x in losses.values()) > 1 else 40.0 for n in range(many)]}

    def figure(name: str, factor: float) -> Verified:
        x = 10 / factor
        identity = replace(pattern.identity, toolchain=name)
        return replace(pattern, identity=identity, estimate=Estimate(x, x * 0.99, x * 1.01, (x,) * 8), states=None)

    some = tuple(
        Kernel("sum", f"dot.k{n}", {name: figure(name, x[n]) for name, x in losses.items()}) for n in range(many)
    )
    flags = [replace(of[name], kernels=some) for name in losses]
    order = sorted(flags, key=lambda f: (-f.near, f.factor))
    return Ordinary(some, tuple(preferred(order)), many)


def test_a_kernel_more_does_not_outweigh_a_loss_that_is_twice_as_large() -> None:
    found = invented_kernels(
        {"clang-native": [1.0] * 4 + [27.0] + [2.0] * 3, NATIVE: [1.0] * 3 + [2.0, 13.0] + [2.0] * 3}
    )
    text = provenance.settle(advice(found))
    assert text.startswith(
        "use gcc-native (-O3 -march=native): as good as the best in 3 of 8 kernels, 13.0 x slower in "
    )
    assert ".\nclang-native (-O3 -march=native) is as good as the best in 4, but its largest loss is 27.0 x" in text


def test_flags_that_win_in_more_kernels_are_advised_with_the_reason() -> None:
    found = invented_kernels(
        {"clang-native": [1.0] * 5 + [27.0] + [2.0] * 2, NATIVE: [1.0] * 3 + [2.0] * 2 + [13.0] + [2.0] * 2}
    )
    text = provenance.settle(advice(found))
    assert text.startswith(
        "use clang-native (-O3 -march=native): as good as the best in 5 of 8 kernels, 27.0 x slower in "
    )
    assert text.endswith(
        ".\ngcc-native (-O3 -march=native) loses less in the worst kernel (13.0 x), "
        "but it is as good as the best in only 3 of 8 kernels"
    )


def test_the_least_loss_of_two_states_is_called_so() -> None:
    found = invented_kernels({"clang-native": [1.0] * 4 + [3.0], NATIVE: [2.0] * 4 + [1.0]})
    (worst, (_, mine)) = next(f.worst for f in found.flags if f.toolchain == "clang-native" and f.worst)
    two = replace(mine, states=States(mine.estimate.median, 1.1 * mine.estimate.median, 4, 4))
    kernels = tuple(
        k._replace(figures=dict(k.figures) | {"clang-native": two}) if k.program == worst.program else k
        for k in found.kernels
    )
    flags = tuple(replace(f, kernels=kernels) for f in found.flags)
    assert ", at least 2.73 x slower in the worst (" in provenance.settle(advice(replace(found, flags=flags)))


def test_flags_of_few_kernels_support_no_advice_although_others_measured_more() -> None:
    judgement, workloads = sample()
    whole = compared(judgement, workloads)
    native, base = (next(f for f in whole.flags if f.toolchain == name) for name in (NATIVE, "gcc-base"))
    thin = replace(native, kernels=native.kernels[:2])
    text = provenance.settle(advice(replace(whole, flags=(thin, base), planned=7)))
    assert text == "no advice: flags were compared in 2 kernels, fewer than half of the planned ones"


def test_a_toolchain_with_few_kernels_is_compared_only_if_no_two_others_have_more() -> None:
    judgement, workloads = sample()
    dot = workloads["dot"]
    more = workloads | {"dot": replace(dot, rows=(*dot.rows, Row("scalar product in L2", "rate", 41, {"n": 10_000})))}
    whole = compared(judgement, more)
    some = [k.verified[FAST].identity for k in whole.kernels if FAST in k.verified]
    for left_out, there in ((0, True), (len(some) - 2, False)):
        few = some[:left_out]
        left = replace(judgement, figures=tuple(f for f in judgement.figures if f.identity not in few))
        assert (FAST in [f.toolchain for f in compared(left, more).flags]) == there, whole.planned


def test_a_run_on_a_machine_that_is_not_fit_supports_no_advice() -> None:
    judgement, workloads = sample()
    records = tuple(replace(r, samples=tuple(replace(s, cpu=0.5) for s in r.samples)) for r in judgement.records)
    shared = replace(judgement, records=records)
    assert ordinary(shared, workloads) is None
    assert verdict.flags(shared, workloads) == "no advice: the machine was not fit for measuring"
