"""The table of `tests/on_gpu.py`: each variant with what checked it and its figure. Only the standard library."""

from __future__ import annotations

from typing import Any

from gpu_plan import SANITIZERS, Plan, Result, Results, Step


def write_table(plan: Plan, results: Results, known: list[Step]) -> None:
    """Write table.md: each variant with what checked it, its figure and the share of the measured device ceiling."""
    outcomes: dict[str, dict[str, list[Result]]] = {}
    for step in known:
        kind, _, name = step.name.partition(" ")
        result = results.of(step)
        if kind in ("check", *SANITIZERS) and result:
            outcomes.setdefault(" ".join(name.split()[:2]), {}).setdefault(kind, []).append(result)
    for program in (p for s in known if s.name.startswith("build ") for p in plan.output(s)):
        if not program["trials"]:
            reason = program["error"].strip().splitlines()[-1:] or ["built; it needs a GPU"]
            outcomes.setdefault(program["name"], {})["check"] = [Result("", "not run", reason[0])]
    figures = plan.output(plan.figures()) or []
    head = ("variant", "small sizes", *SANITIZERS, "figure", "of the ceiling", "reason")
    rows = [head, ("---",) * len(head)] + [row(name, outcomes[name], figures) for name in sorted(outcomes)]
    text = "".join(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |\n" for cells in rows)
    (plan.folder / "table.md").write_text(text)


def row(name: str, outcomes: dict[str, list[Result]], figures: list[dict[str, Any]]) -> tuple[str, ...]:
    broken = ".broken_" in name
    words = {"passed": "rejected" if broken else "verified"}
    told, reasons = [], []
    for kind in ("check", *SANITIZERS):
        every = outcomes.get(kind, [])
        best = [r for r in every if r.outcome == "passed"][:1] if broken else []
        for result in best or every[:1]:
            reasons += [result.reason] if result.reason else []
            told.append(words.get(result.outcome, result.outcome))
        told += [] if every else ["-"]
    return (name, *told, *figure(name.split()[0], figures), "; ".join(reasons))


def figure(variant: str, figures: list[dict[str, Any]]) -> tuple[str, str]:
    """Return the verified figure of a variant that is nearest to its ceiling, and the share; else the reason."""
    own = [f for f in figures if f"{f['workload']}.{f['variant']}" == variant]
    good = [f for f in own if f["median"] is not None]
    if not good:
        return (str(own[0]["reason"] or own[0]["verdict"]) if own else "not measured"), "-"
    best = max(good, key=lambda f: f["of_ceiling"] or 0.0)
    case = " ".join(f"{key}={value}" for key, value in best["parameters"].items())
    share = "-" if best["of_ceiling"] is None else f"{best['of_ceiling']:.2f}"
    return f"{best['median']:.4g} {best['unit']} ({best['metric']}, {case})", share
