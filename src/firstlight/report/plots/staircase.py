"""Staircase: a figure against the size of its data, one line per toolchain, with cache levels marked."""

from __future__ import annotations

from collections.abc import Mapping

from firstlight.analysis import formatting, provenance, ranking
from firstlight.analysis.ceilings import of_node, total
from firstlight.analysis.verdict import Verified
from firstlight.core import confidence
from firstlight.core.units import binary
from firstlight.model.catalogue import Plot, Workload
from firstlight.model.plan import Placement, same_work
from firstlight.report import answers, frame, sentence
from firstlight.report.frame import Drawing, View
from firstlight.report.ghosts import ghosts

FEWEST = 3  # sizes that make a staircase
ALIKE = 1.1  # ratio of working sets that one mark of a cache fits
Lines = dict[str, dict[float, Verified]]


def draw(view: View, workload: Workload, plot: Plot, name: str) -> list[Drawing]:
    """Return one drawing for the smallest placement and one for the largest."""
    figures = answers.verified(view.selected(workload, plot))
    placements = sorted({f.identity.placement for f in figures if not f.oversubscribed}, key=_cores)
    stairs = [p for p in placements if _sizes(figures, p, plot) >= FEWEST]
    ends = stairs[:1] + (stairs[-1:] if len(stairs) > 1 else [])
    drawn = [_drawing(view, workload, plot, f"{name}-{k}", p, len(placements)) for k, p in enumerate(ends)]
    drawings = [d for d in drawn if d is not None]
    if drawings:  # its table has also what is drawn nowhere
        drawings[0].rows += frame.table(f for f in view.selected(workload, plot) if f.identity.placement not in ends)
    return drawings


def _cores(placement: Placement) -> tuple[int, int]:
    return placement.nodes * placement.ranks * placement.threads, placement.ranks


def _sizes(figures: list[Verified], placement: Placement, plot: Plot) -> int:
    return len({dict(f.identity.parameters).get(plot.x) for f in figures if f.identity.placement == placement})


def _drawing(view: View, workload: Workload, plot: Plot, name: str, placement: Placement, of: int) -> Drawing | None:
    every = [f for f in view.selected(workload, plot) if f.identity.placement == placement]
    alike = [f for f in answers.verified(every) if same_work(f.identity.variant, plot, workload)]
    measured = best_lines(alike, plot)
    if not measured:
        return None
    lines = {key: line for key, line in measured.items() if len(line) > 1} or measured
    some = next(iter(next(iter(lines.values())).values()))
    xs = sorted({x for line in lines.values() for x in line})
    help_text, unit = view.parameter(workload.name, plot.x)
    drawn = frame.layout(
        frame.log_axis(f"{help_text} ({unit})" if unit else help_text, xs if unit in ("B", "bytes") else ()),
        frame.log_axis(frame.title_of_values(plot.metric, some)),
    )
    ceiling = _ceiling(lines)
    data = frame.ceiling_trace(ceiling, "ceiling measured in this run") if len(ceiling) > 1 else []
    for k, (key, line) in enumerate(list(lines.items())[: frame.MOST_LINES]):
        look = {"color": view.palette.colour(key), "dash": view.palette.dash(key), "symbol": view.palette.symbol(k)}
        label = answers.label(view.judgement.run, plot.lines, key)
        data.append(frame.line(sorted(line.items()), label, look))
    if plot.mark_caches:
        _mark_caches(view, drawn, some, plot.x, xs, _first(lines) if _differ(lines) else "")
    if name.endswith("-0"):  # earlier figures are of one processor
        data += ghosts(view, workload.name, plot, some, xs[0], xs[-1])
    title, caption = _title(view, plot, lines), _caption(view, plot, lines, len(ceiling) > 1)
    if of > 1:
        title += f" · {provenance.placed(formatting.where(placement) or '1 core', some)}"
    if len(lines) < len(measured):
        caption += " What was measured at one size is in the table alone."
    return Drawing(name, title, caption, frame.HEAD, frame.table(every), data, drawn)


def best_lines(figures: list[Verified], plot: Plot, with_zero: bool = False) -> Lines:
    """Return the best figure by line and x over all that the line does not distinguish; the better line first."""
    key = answers.chooser(plot.lines)
    by_x: dict[float, list[Verified]] = {}
    for f in figures:
        x = dict(f.identity.parameters).get(plot.x)
        if isinstance(x, int | float) and (x > 0 or with_zero) and not f.oversubscribed:
            by_x.setdefault(float(x), []).append(f)
    lines: Lines = {}
    behind: dict[str, list[float]] = {}
    for x, some in sorted(by_x.items()):
        each = answers.best_of_each(some, key)
        for f in each:
            lines.setdefault(key(f.identity), {})[x] = f
            behind.setdefault(key(f.identity), []).append(ranking.advantage(each[0], f))
    return dict(sorted(lines.items(), key=lambda item: sum(behind[item[0]]) / len(behind[item[0]])))


def _ceiling(lines: Lines) -> list[frame.Limited]:
    """Return the highest measured ceiling at each x: (x, value, low, high)."""
    found: dict[float, frame.Limited] = {}
    for line in lines.values():
        for x, f in line.items():
            c = f.ceiling
            if c is not None and (x not in found or c.value > found[x][1]):
                found[x] = (x, c.value, c.low, c.high)
    return [found[x] for x in sorted(found)]


def _mark_caches(view: View, drawn: frame.Trace, some: Verified, name: str, xs: list[float], whose: str) -> None:
    """Draw a line where the working set outgrows each cache; the working set is assumed proportional to x.

    `whose`: the line to which the marks belong if others have more or fewer bytes at x.
    """
    x = dict(some.identity.parameters)[name]
    per_x = total(some) / float(x) if some.working_set else 0.0
    cores, suffix = of_node(some.identity), f" ({whose})" if whose else ""
    ends = []
    for level in view.levels.levels if per_x > 0 else ():
        shared = level.reach(cores) < cores  # the effective capacity is that for one core
        size, label = (level.size, level.nominal) if shared else (level.capacity, level.label)
        ends.append((size * level.reach(cores) / per_x, label + suffix))
    frame.marks(drawn, ends, xs[0], xs[-1])


def _title(view: View, plot: Plot, lines: Lines) -> str:
    by_place = {name: _by_place(view, line) for name, line in lines.items()}
    at = {
        place: {name: some[place][-1] for name, some in by_place.items() if place in some}
        for place in view.levels.names
    }
    ordered = [(place, last) for place, last in at.items() if last]
    subject = plot.subject or plot.metric
    tools = plot.lines in ("toolchain", "mpi", "variant")
    if len(lines) == 1:
        name = "" if tools else f" ({plot.lines} = {_first(lines)})"
        levels = {f"in {p}": next(iter(v.values())) for p, v in ordered}
        if len(levels) < 2:  # each end with its size: other sizes may lie in another level
            line = sorted(lines[_first(lines)].items())
            levels = {f"at {_size(view, plot, f)}": f for _, f in (line[0], line[-1])}
        return sentence.capital(f"{subject} is {sentence.staircase(levels)}{name}")
    if not tools:
        first = ordered[0][0]
        highest = {name: best for name, some in by_place.items() if (best := ranking.best(some.get(first, ())))}
        return sentence.capital(f"{subject} {sentence.falls([(first, highest), *ordered[1:]], plot.lines)}")
    key = answers.chooser(plot.lines)

    def label(f: Verified) -> str:
        return answers.label(view.judgement.run, plot.lines, key(f.identity))

    shared = [(place, _at_one_x(list(v.values()), plot)) for place, v in ordered]
    found = [o for place, some in shared if (o := sentence.outcome(_where(view, plot, place, some[0]), some, label))]
    return sentence.capital(f"{subject}: {sentence.compared(found)}" if found else subject)


def _where(view: View, plot: Plot, place: str, some: Verified) -> str:
    """Return the size whose figures the title compares, and the memory that contains the data: `n = 1000 (L1)`."""
    return f"{_size(view, plot, some)} ({place})"


def _size(view: View, plot: Plot, some: Verified) -> str:
    value = dict(some.identity.parameters)[plot.x]
    _, unit = view.parameter(some.identity.workload, plot.x)
    if unit in ("B", "bytes"):
        return provenance.parameter(binary(float(value)), some, f"a[{plot.x!r}]", "B")
    return f"{plot.x} = {provenance.parameter(formatting.value(plot.x, value), some, f'a[{plot.x!r}]')}"


def _by_place(view: View, line: Mapping[float, Verified]) -> dict[str, list[Verified]]:
    """Return the figures of a line by level of memory, by x. If possible, they fill at most half of their cache: near
    its end some of the data are already beyond it. They are at least twice as large as the previous cache, as the
    system reports it: other launches than those that showed a smaller effective capacity may have had all of it.
    """
    found: dict[str, list[Verified]] = {}
    for _, f in sorted(line.items()):
        found.setdefault(view.place(f), []).append(f)
    for level, after in zip(view.levels.levels, view.levels.names[1:], strict=True):
        caches = {f.identity: level.reach(of_node(f.identity)) for f in line.values()}
        some = found.get(level.name, [])
        found[level.name] = [f for f in some if 2 * total(f) <= level.capacity * caches[f.identity]] or some
        found[after] = [f for f in found.get(after, []) if total(f) >= 2 * level.size * caches[f.identity]]
    return {place: some for place, some in found.items() if some}


def _at_one_x(figures: list[Verified], plot: Plot) -> list[Verified]:
    """Return the figures measured at the x that most of them share."""
    xs = [dict(f.identity.parameters).get(plot.x) for f in figures]
    common = max(set(xs), key=xs.count)
    return [f for f, x in zip(figures, xs, strict=True) if x == common]


def _caption(view: View, plot: Plot, lines: Lines, ceiling: bool) -> str:
    best = "" if plot.lines == "variant" else f" Each line is the best variant of its {plot.lines}."
    rest = (
        f" The drawing shows the best {frame.MOST_LINES} lines; the table shows all."
        if len(lines) > frame.MOST_LINES
        else ""
    )
    limit = " The grey dashed line is the bound of the ceilings measured in this run." if ceiling else ""
    whose = f" of {plot.lines} = {_first(lines)}" if _differ(lines) else ""
    caches = _caches(view, whose) if plot.mark_caches else ""
    bars = f"Error bars are {confidence.INTERVALS} of the median over launches."
    return f"{bars}{best}{rest}{limit}{caches}"


def _first(lines: Lines) -> str:
    return next(iter(lines))


def _differ(lines: Lines) -> bool:
    """Return whether the cache marks fit the first line only: others have more or fewer bytes at x."""
    bytes_of = {total(f) / x for line in lines.values() for x, f in line.items()}
    return max(bytes_of) > ALIKE * min(bytes_of)


def _caches(view: View, whose: str) -> str:
    """Return the caption of the cache marks: as measured, or as the system reports."""
    if not view.levels.levels:
        return ""
    text = f" Dotted verticals: where the data{whose} exceed a cache"
    if not view.levels.measured:
        return text + " of the size that the system reports. Too few sizes were measured for an effective capacity."
    if any(level.acts for level in view.levels.levels):
        return (
            text + ". The effective size of a cache is the largest working set that one core reads at the speed of "
            "this cache."
        )
    return text + "."
