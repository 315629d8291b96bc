"""Numbers computed again: a formula over exported figures, run.json and launches; units, digits and statistics.

Nothing of firstlight is imported."""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Callable, Iterator
from functools import cached_property, partial
from pathlib import Path
from statistics import median
from typing import Any

import nominal
import ratios

PREFIXES = {p: 1000.0**k for k, p in enumerate(("p", "n", "u", "m", "", "k", "M", "G", "T", "P", "E"), -4)}
BINARY = {u: 1024.0**k for k, u in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB"))}
NOUNS = {"launch", "figure", "core", "node", "rank", "thread", "detour", "bit"}
PLAIN = {"", "×", "x", "times", "launches", *NOUNS, *(f"{n}s" for n in NOUNS)}


# --- what it was computed from ----------------------------------------------------------------------------------------


class Run:
    """Represent the exported figures, run.json and the launches, as plain data."""

    def __init__(self, folder: Path, figures: list[dict[str, Any]], values: list[dict[str, Any]]) -> None:
        self.folder, self.rows = folder, figures
        self.values = [row.get("values") or [] for row in values]
        self.run: dict[str, Any] = json.loads((folder / "run.json").read_bytes())

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """Represent one launch: its lines by type."""
        found = []
        for path in sorted((self.folder / "launches").glob("*.jsonl")):
            record: dict[str, Any] = {}
            for text in path.read_text(encoding="utf-8").splitlines():
                line = json.loads(text)
                record.setdefault(line["type"], []).append(line)
            found.append(record)
        return found

    @cached_property
    def cells(self) -> dict[str, dict[str, Any]]:
        return {c["id"]: c for c in self.run["cells"]}

    def matching(self, row: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Return the complete launches of a figure with its case, in the order of time."""
        for record in sorted(self.complete(), key=lambda r: r["start"][0]["time"]):
            cell = self.cells.get(record["start"][0]["cell"])
            if cell is None:
                continue
            program, place = cell["program"], cell["placement"]
            same = all(program.get(k) == row[k] for k in ("workload", "variant", "toolchain", "mpi"))
            if same and all(place.get(k, 1) == row["placement"].get(k, 1) for k in ("nodes", "ranks")):
                for case in record.get("case", ()):
                    threads = case["threads"] == row["placement"].get("threads", 1)
                    if threads and case["parameters"] == row["parameters"]:
                        yield record, case

    def complete(self) -> list[dict[str, Any]]:
        return [r for r in self.records if "launch" in r and "end" in r and r.get("exit", [{}])[0].get("ok")]

    # formulas without figures use these

    def count(self, what: str) -> int:
        if what == "absent":
            return len(self._absent())
        if what == "lost":
            return sum(not r.get("exit", [{}])[0].get("ok") or "end" not in r for r in self.records)
        if what == "expected":
            return sum(bool(row["expected"]) for row in self.rows)
        return sum(row["verdict"] == what and not row["expected"] for row in self.rows)

    def _absent(self) -> set[tuple[str, ...]]:
        """By program, reason and help: toolchains that lack the same are one."""
        tools = self.run["toolbox"]
        listed = {
            (a["what"].partition(" with ")[0], a["why"], a["fix"]) for a in self.run["not_available"] + tools["absent"]
        }
        devices = tools.get("cuda") or any(o["device"] for o in tools.get("offloads", ()))
        return listed | ({("GPU",)} if devices and not self.run["machine"].get("gpus") else set())

    def scatter(self) -> list[float]:
        return [
            abs(v / row["median"] - 1)
            for row, values in zip(self.rows, self.values, strict=True)
            if row["verdict"] == "verified" and row["median"]
            for v in values
        ]

    @cached_property
    def _levels(self) -> list[tuple[float, float]]:
        """When each launch began, and its time relative to the other launches of its program."""
        found, walls = [], {}
        for record in self.complete():
            steps = {c["case"]: c["steps"] for c in record.get("case", ())}
            samples: dict[int, list[float]] = {}
            for s in record.get("sample", ()):
                if steps.get(s["case"], 0) > 0 and s["wall"] > 0:
                    samples.setdefault(s["case"], []).append(s["wall"] / steps[s["case"]])
            cell = record["start"][0]["cell"]
            mine = {(cell, case): median(v) for case, v in samples.items()}
            for key, wall in mine.items():
                walls.setdefault(key, []).append(wall)
            found.append((record["start"][0]["time"], mine))
        usual = {key: median(v) for key, v in walls.items() if len(v) > 1}
        relative = [(at, [wall / usual[k] for k, wall in mine.items() if k in usual]) for at, mine in found]
        return sorted((at, median(v)) for at, v in relative if v)

    def lasted(self) -> float:
        return self._levels[-1][0] - self._levels[0][0]

    def drift(self) -> float:
        ys = [100 * (y - 1) for _, y in self._levels]
        half = max(4, len(ys) // 40)
        smooth = [median(ys[max(0, k - half) : k + half + 1]) for k in range(len(ys))]
        return (max(smooth) - min(smooth)) / 100

    def threshold(self) -> float:
        """Return the smallest difference between a user's commands that matters."""
        return float(self.run["brought"][0].get("threshold", 0.05))

    def diverged(self) -> int:
        return sum(not s["cpu"] >= 0.9 for r in self.complete() for s in r.get("sample", ()))

    def samples(self) -> int:
        return sum(len(r.get("sample", ())) for r in self.complete())

    def load(self) -> float:
        return float(self.run["machine"]["load"])

    def cpus(self) -> int:
        return len(self.run["machine"]["cpus"])

    def counted(self, target: str, toolchain: str) -> list[float]:
        """Return operations counted over operations declared, launch by launch, of programs of one rank."""
        shares = []
        for record in self.records:
            cell = self.cells.get(record["start"][0]["cell"])
            if cell is None or cell["placement"].get("ranks", 1) != 1 or cell["program"]["toolchain"] != toolchain:
                continue
            if f"{cell['program']['workload']}.{cell['program']['variant']}" != target:
                continue
            declared = {c["case"]: c["cost"].get("flops", 0.0) for c in record.get("case", ())}
            for c in record.get("counters", ()):
                work = declared.get(c["case"], 0.0) * c["steps"]
                if c.get("flops") is not None and work > 0:
                    shares.append(c["flops"] / work)
        return shares

    def cache(self, level: int) -> float:
        return float(next(c["size"] for c in self.run["machine"]["caches"] if c["level"] == level))


class Figure(float):
    """Wrap the median of a figure for computations; its other facts are attributes, its parameters subscripts."""

    row: dict[str, Any]
    run: Run
    place: int

    @classmethod
    def of(cls, run: Run, place: int) -> Figure:
        row = run.rows[place]
        made = cls(math.nan if row["median"] is None else row["median"])
        made.row, made.run, made.place = row, run, place
        return made

    @property
    def placement(self) -> dict[str, int]:
        p = {k: int(self.row["placement"].get(k, 1)) for k in ("nodes", "ranks", "threads")}
        return p | {"cores": p["ranks"] * p["threads"]}

    def fact(self, name: str) -> Any:
        if name in ("nodes", "ranks", "threads", "cores"):
            return self.placement[name]
        return self.row[name]

    def parameter(self, name: str) -> Any:
        return dict(self.row["parameters"])[name]

    # only the records contain these

    def cost(self, name: str) -> float:
        return float(next(self.run.matching(self.row))[1]["cost"][name])

    def working_set(self) -> float:
        return float(next(self.run.matching(self.row))[1]["working_set"])

    def windows(self) -> list[tuple[float, dict[str, list[float]]]]:
        """Return, per launch with series: seconds of the last sample, points of each series over all ranks."""
        found = []
        for record, case in self.run.matching(self.row):
            lines = [s for s in record.get("series", ()) if s["case"] == case["case"]]
            walls = [s["wall"] for s in record.get("sample", ()) if s["case"] == case["case"]]
            points: dict[str, list[float]] = {}
            for line in lines:
                points.setdefault(line["name"], []).extend(line["values"])
            if points and walls:
                found.append((walls[-1], points))
        return found

    def series(self, name: str) -> list[float]:
        return [x for _, points in self.windows() for x in points.get(name, ()) if 1e-6 < x < 1e12]

    def field(self) -> dict[str, Any]:
        """Return the picture of the last launch."""
        lines = [f for r, c in self.run.matching(self.row) for f in r.get("field", ()) if f["case"] == c["case"]]
        return lines[-1]

    def largest(self) -> float:
        return float(self.field()["largest"])

    def half_waves(self, dimension: int) -> int:
        """Return stretches of one sign along a line through the largest value; only values above a twentieth of it
        count.
        """
        values = self.field()["values"]
        at = max(((abs(x), -i, -j) for i, row in enumerate(values) for j, x in enumerate(row)))
        line = values[-at[1]] if dimension else [row[-at[2]] for row in values]
        signs = "".join("+" if x > 0 else "-" for x in line if abs(x) >= 49)
        return len(re.findall(r"\++|-+", signs))

    @property
    def launches(self) -> list[float]:
        return self.run.values[self.place]

    def best(self) -> float:
        """Return the best launch, from which ceilings are computed."""
        return max(self.launches) if self.row["better"] == "higher" else min(self.launches)

    def over_ranks(self, value: str, k: int) -> float:
        seen: dict[int, list[float]] = {}
        for n, (record, case) in enumerate(self.run.matching(self.row)):
            for s in record.get("sample", ()):
                if s["case"] == case["case"] and value in s.get("values", {}):
                    seen.setdefault(n, []).append(s["values"][value][k])
        return median(median(v) for v in seen.values())

    def share(self, phase: str, phases: list[str]) -> float:
        return self.over_ranks(f"phase_{phase}", 1) / sum(self.over_ranks(f"phase_{p}", 1) for p in phases)

    def diverged(self) -> float:
        some = [s["cpu"] for r, c in self.run.matching(self.row) for s in r.get("sample", ()) if s["case"] == c["case"]]
        return sum(not x >= 0.9 for x in some) / len(some)

    def steps(self, variant: str = "") -> list[float]:
        """Return the seconds of a step, launch by launch, or of another variant of the same case."""
        row = self.row | {"variant": variant or self.row["variant"]}
        walls = [
            (median(s["wall"] for s in r.get("sample", ()) if s["case"] == c["case"]), c["steps"])
            for r, c in self.run.matching(row)
        ]
        return [wall / steps for wall, steps in walls]

    def kept(self, variant: str) -> float:
        """Return the speed as a fraction of that variant's speed."""
        return math.exp(median(math.log(t) - math.log(s) for s in self.steps() for t in self.steps(variant)))

    def each_way(self, variant: str) -> float:
        """Return the bytes sent in a step, over the time by which it is longer than the variant's."""
        return self.cost("flow") / 2 / (median(self.steps()) - median(self.steps(variant)))

    def longest(self) -> float:
        _, points = self.windows()[-1]
        return max(zip(points["detour_length"], points["detour_at"], strict=True))[1]


def slow(figures: list[Figure], least: float) -> list[float]:
    """Return how many times slower than usual each launch of these figures was, if slower by at least `least`."""
    seen: dict[tuple[object, ...], list[float]] = {}
    for f in figures:
        if len(f.launches) < 2 or min(f.launches) <= 0:
            continue
        times = [record["start"][0]["time"] for record, _ in f.run.matching(f.row)]
        states = f.row.get("states") or {"lower": float(f), "upper": float(f)}
        program = tuple(f.row[k] for k in ("workload", "variant", "toolchain", "mpi")) + tuple(f.placement.values())
        for time_, value in zip(times, f.launches, strict=True):
            slower = value / states["lower"] if f.row["better"] == "lower" else states["upper"] / value
            seen.setdefault((time_, *program), []).append(slower)
    return [x for x in map(median, seen.values()) if x >= least]


def nearest(a: Figure, b: Figure) -> float:
    """Return how many times larger a is than b, by the nearer of their modes."""
    both = [f.row.get("states") or {"lower": float(f), "upper": float(f)} for f in (a, b)]
    return min((both[0][k] / both[1][k] for k in ("lower", "upper")), key=lambda r: abs(math.log(r)))


def above(figures: list[Figure]) -> int:
    """Return how many pairs have a larger first figure."""
    return sum(shift(a, b) > 1 for a, b in zip(figures[::2], figures[1::2], strict=True))


def near(figures: list[Figure]) -> int:
    """Return in how many pairs the second figure is the same as the first: the interval of their ratio touches 1, or
    both the ratio of their medians and that over all their launches are within 3 %. Medians that are 15 % apart are not
    the same."""
    pairs = list(zip(figures[::2], figures[1::2], strict=True))
    return sum(_same(best, other) and not _apart(best, other) for best, other in pairs)


def undecided(figures: list[Figure]) -> int:
    """Return in how many pairs no difference can be shown, but the medians are 15 % apart."""
    pairs = list(zip(figures[::2], figures[1::2], strict=True))
    return sum(_same(best, other) and _apart(best, other) for best, other in pairs)


def _same(best: Figure, other: Figure) -> bool:
    if best.place == other.place:
        return True
    small = _larger(best, other) < 1.03 and abs(shift(other, best) - 1) < 0.03
    return small or (ratios.low(best, other) < 1.005 and ratios.high(best, other) > 1 / 1.005)


def _apart(best: Figure, other: Figure) -> bool:
    return best.place != other.place and max(ratios.of_medians(best, other), ratios.of_medians(other, best)) >= 1.15


def _larger(best: Figure, other: Figure) -> float:
    return nearest(best, other) if best.row["better"] == "higher" else nearest(other, best)


def shift(b: Figure, a: Figure) -> float:
    """Return how many times larger b is than a: the Hodges-Lehmann estimate over the launches."""
    x, y = (b.run.values[f.place] for f in (b, a))
    return math.exp(median(math.log(p) - math.log(q) for p in x for q in y))


def compute(run: Run, formula: str, figures: list[Figure]) -> Any:
    """Compute the value of a formula: names of figures, their facts and parameters, arithmetic, the functions below."""
    functions: dict[str, Callable[..., Any]] = {
        "min": lambda *x: min(x if len(x) > 1 else x[0]), "max": lambda *x: max(x if len(x) > 1 else x[0]),
        "median": median, "log2": math.log2, "sum": sum, "len": len, "sorted": sorted, "shift": shift,
        "nearest": nearest, "best": Figure.best, "above": above, "near": near, "undecided": undecided,
        "ratio": ratios.of_medians, "ratio_low": ratios.low, "ratio_high": ratios.high, "values": lambda f: f.launches,
        "diverged_of": Figure.diverged, "kept": Figure.kept, "each_way": Figure.each_way, "slow": slow,
        "cost": Figure.cost, "working_set": Figure.working_set, "series": Figure.series, "share": Figure.share,
        "over_ranks": Figure.over_ranks, "at_longest": Figure.longest,
        "largest": Figure.largest, "half_waves": Figure.half_waves, "window": lambda f: f.windows()[-1][0],
        "last": lambda f, name: f.windows()[-1][1][name], "large": lambda: 65536,
        **{n: getattr(run, n) for n in
           ("count", "scatter", "threshold", "lasted", "drift", "diverged", "samples", "counted", "cache",
            "load", "cpus")},
        **{name: partial(f, run.run["machine"].get("hardware")) for name, f in nominal.FUNCTIONS.items()},
    }  # fmt: skip
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = [*letters, *(x + y for x in letters for y in letters)]
    known: dict[str, Any] = {"each": figures, **dict(zip(names, figures, strict=False))}

    def value(node: ast.expr) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return known[node.id]
            case ast.List():
                return [value(x) for x in node.elts]
            case ast.Attribute():
                inner = value(node.value)
                return inner.fact(node.attr) if isinstance(inner, Figure) else inner[node.attr]
            case ast.Subscript():
                inner, key = value(node.value), value(node.slice)
                return inner.parameter(key) if isinstance(inner, Figure) else inner[key]
            case ast.BinOp(op=ast.Div()):
                return float(value(node.left)) / float(value(node.right))
            case ast.BinOp(op=ast.Mult()):
                return float(value(node.left)) * float(value(node.right))
            case ast.BinOp(op=ast.Add()):
                return value(node.left) + value(node.right)
            case ast.BinOp(op=ast.Sub()):
                return value(node.left) - value(node.right)
            case ast.UnaryOp(op=ast.USub()):
                return -value(node.operand)
            case ast.Call(func=ast.Name(id=name)) if name in functions:
                return functions[name](*map(value, node.args))
        raise ValueError(f"no formula: {ast.dump(node)}")

    return value(ast.parse(formula, mode="eval").body)


# --- digits -----------------------------------------------------------------------------------------------------------


def factor(unit: str) -> tuple[str, float]:
    """Return the quantity that a unit measures, and its factor."""
    if unit in BINARY:
        return "bytes", BINARY[unit]
    for base in ("flop/s/W", "B/s/W", "W", "J", "flop/s", "B/s", "bit/s", "flop/B", "Hz", "s"):
        if unit.endswith(base) and unit.removesuffix(base) in PREFIXES:
            return base, PREFIXES[unit.removesuffix(base)]
    return ("", 1.0) if unit in PLAIN else ("", 0.01) if unit == "%" else (unit, 1.0)


def spoken(text: str) -> tuple[str, str]:
    """Parse a printed number and its unit; a length of time in seconds."""
    text = " ".join(text.replace("\u00a0", " ").split())
    parts = re.findall(r"(\d+) (h|min|s)\b", text)
    if len(parts) > 1:
        return str(sum(int(n) * {"h": 3600, "min": 60, "s": 1}[u] for n, u in parts)), "s"
    found = re.fullmatch(r"([+-]?[\d.,]*\d(?:e[+-]?\d+)?)\s*(.*)", text)
    return (found[1].replace(",", ""), found[2]) if found else ("", text)


def agrees(printed: str, value: float) -> bool:
    """Return whether the printed digits are those of the value, rounded to as many (an integer: to two or more)."""
    mantissa, _, power = printed.lstrip("+-").partition("e")
    shown = float(printed)
    if shown == 0 or not math.isfinite(value):
        return abs(value) < 0.5 * 10.0 ** -len(mantissa.partition(".")[2]) if math.isfinite(value) else False
    digits = len(mantissa.replace(".", "").lstrip("0"))
    several = {digits} if "." in mantissa or power else {digits, *(k for k in (2, 3) if k < digits)}
    for k in several:
        last = 10.0 ** (math.floor(math.log10(abs(shown))) - k + 1)
        whole = abs(shown / last - round(shown / last)) < 1e-6
        if whole and abs(shown - value) <= 0.5 * last * (1 + 1e-6):
            return True
    return False
