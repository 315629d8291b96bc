"""Advice on flags for ordinary code, in words: each number with the figures that it comes from."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from firstlight.analysis import provenance, ranking
from firstlight.analysis.ordinary import CLEARLY, FEWEST, Flags, Ordinary, among, equals, fair_over, option, same
from firstlight.core.units import significant

SHOWN = 3  # programs that flags break, by name


def advice(found: Ordinary | None) -> str:
    """Return one or more sentences with the sources of their numbers; "" if there is nothing to compare.

    If the best flags break a result, the best ones that break none follow. Then come flags that are better in one
    respect than the advised ones, with the reason why they are not advised; last, those for kernels that the best flags
    did not measure: few compilers of C++ also compile Fortran.
    """
    if found is None:
        return ""
    best = found.flags[0]
    second = sorted(found.flags, key=lambda f: len(f.kernels))[-FEWEST]
    if not second.supported(found.planned):
        return f"no advice: flags were compared in {_kernels(second)}, fewer than half of the planned ones"
    if _alike(found.flags) and not best.broken:
        return f"any: no difference in {_kernels(best)}"
    if not best.broken:
        others = _better_in_one(found.flags, best)
        return f"use {_name(best)}: {_near(best)}{_relaxed(best)}{_equal(found)}{others}{_elsewhere(found)}"
    sentence = f"the fastest is {_name(best)}: {_near(best)}, but {_wrong(best)}"
    right = [f for f in found.flags if not f.broken]
    if strict := among(right):
        use, *_ = strict
        compared = f"no difference in {_kernels(use)}" if _alike(strict) else f"among such flags, {_near(use)}"
        sentence += f".\nWithout wrong results, use {_of(strict)}: {compared}{_better_in_one(strict, use)}"
        sentence += _price(next(f for f in right if f.toolchain == use.toolchain))
    elif right:
        sentence += f".\nWithout wrong results, use {_name(right[0])}"
    else:
        sentence += _better_in_one(found.flags, best)
    return sentence + _elsewhere(found)


def _relaxed(f: Flags) -> str:
    """Return `. -Ofast reorders sums and assumes no NaN: check your results`; "" if the flags keep the arithmetic."""
    return f". {option(f)} reorders sums and assumes no NaN: check your results" if option(f) else ""


def _equal(found: Ordinary) -> str:
    """Return `. gcc-fast (-Ofast) is about as good: 6 of 8 kernels`, of flags that are close to the first; or ""."""
    near = [f"{_name(f)} is about as good: {best_in(f)} of {_kernels(f)}" for f in equals(found.flags)]
    return f". {near[0]}" if near else ""


def _better_in_one(flags: Sequence[Flags], advised: Flags) -> str:
    """Return the flags that are as good as the best in more kernels than the advised ones, and those whose largest loss
    is clearly smaller, each with the reason why it is not advised; or "".
    """
    mine, text = fair_over(advised, flags), ""
    most = max(flags, key=lambda f: fair_over(f, flags).near)
    if fair_over(most, flags).near > mine.near and most.factor >= CLEARLY * advised.factor:
        text += f".\n{_name(most)} is as good as the best in {best_in(most)}, but its largest loss is {loss(most)}"
    least = min(flags, key=lambda f: f.factor)
    if least.worst is not None and least.factor * CLEARLY <= advised.factor:
        why = (
            _wrong(least)
            if least.broken
            else f"it is as good as the best in only {best_in(least)} of {_kernels(least)}"
        )
        text += f".\n{_name(least)} loses less in the worst kernel ({loss(least)}), but {why}"
    return text


def _alike(flags: Sequence[Flags]) -> bool:
    return all(f.near == len(f.kernels) for f in flags)


def _of(flags: Sequence[Flags]) -> str:
    """Return the name of the best of these flags; if no kernel shows a difference, that any of them serves."""
    return "any other flags" if len(flags) > 1 and _alike(flags) else _name(flags[0])


def _price(f: Flags) -> str:
    """Return `.\nThe price: up to 13.2 x slower than the fastest flags (scalar product in L1, dot.serial)`; or ""."""
    price = f".\nThe price: up to {loss(f)} slower than the fastest flags ({provenance.name(f.kernel)})"
    return price if f.worst else ""


def _elsewhere(found: Ordinary) -> str:
    """Return `. For Fortran (scalar product in L1): gcc-fast`, of kernels that the best flags lack; or ""."""
    left = [k for k in found.kernels if found.flags[0].toolchain not in k.figures]

    def good(f: Flags) -> int:
        pairs = [(k.best, k.verified.get(f.toolchain)) for k in left]
        return sum(a is not None and b is not None and same(a, b) for a, b in pairs)

    best = max(found.flags, key=good)
    if not left or not good(best):
        return ""
    names = list(dict.fromkeys(provenance.name(k.name) for k in left))
    which = "Fortran" if all(k.fortran for k in left) else f"kernels without a {found.flags[0].toolchain} figure"
    wrong = ""
    if best.broken:
        of_left = [replace(f, kernels=tuple(k for k in f.kernels if k in left)) for f in found.flags if not f.broken]
        right = among(of_left)
        wrong = f", but {_wrong(best)}" + (f"; without wrong results, {_of(right)}" if right else "")
    relaxed = "" if option(found.flags[0]) and not found.flags[0].broken else _relaxed(best)
    return f".\nFor {which} ({'; '.join(names[:SHOWN])}): {_name(best)}{wrong}{relaxed}"


def _name(f: Flags) -> str:
    """Return `clang-fast (-Ofast -march=native)`."""
    return f.toolchain + (f" ({f.options})" if f.options else "")


def _near(f: Flags) -> str:
    """Return `as good as the best in 7 of 8 kernels, 1.3 x slower in the worst (..., dot.serial: gcc-base is best)`."""
    text = f"as good as the best in {best_in(f)} of {_kernels(f)}"
    if f.undecided:
        some = tuple(x for pair in f.pairs for x in pair)
        text += f", {ranking.UNCLEAR} in {provenance.number(str(f.undecided), 'undecided(each)', of=some)}"
    if f.worst is None:
        return text
    kernel, (best, _) = f.worst
    return f"{text}, {loss(f)} slower in the worst ({provenance.name(kernel.name)}: {best.identity.toolchain} is best)"


def best_in(f: Flags) -> str:
    """Return the number of kernels in which it is as good as the best."""
    return provenance.number(str(f.near), "near(each)", of=tuple(x for pair in f.pairs for x in pair))


def measured(f: Flags) -> str:
    """Return the number of kernels in which it was compared."""
    return provenance.number(str(len(f.kernels)), "len(each)", of=tuple(mine for _, mine in f.pairs))


def _kernels(f: Flags) -> str:
    return f"{measured(f)} kernel{'' if len(f.kernels) == 1 else 's'}"


def loss(f: Flags) -> str:
    """Return `1.3 x`, compared with the best of the kernel in which it loses most; "" if it loses nowhere.

    If a figure has two states, the factor is that of the nearer ones: `at least 1.3 x`.
    """
    if f.worst is None:
        return ""
    pair = f.worst[1]
    return provenance.at_least(*pair) + provenance.advantage(f"{significant(f.factor)} x", *pair)


def _wrong(f: Flags) -> str:
    return f"its results are wrong in {_broken(f)}"


def _broken(f: Flags) -> str:
    return ", ".join(f.broken[:SHOWN]) + (" and others" if len(f.broken) > SHOWN else "")
