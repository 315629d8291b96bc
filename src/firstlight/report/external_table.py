"""External commands: the table of a user's commands on the terminal page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from firstlight.analysis import Judgement, provenance
from firstlight.analysis.states import describe_states
from firstlight.analysis.verdict import Numbered
from firstlight.core.units import count
from firstlight.report import external_commands
from firstlight.report.external_commands import Line, Table
from firstlight.report.ink import Ink, wrap

LAUNCHES = "launches"
MOST_REPORTED = 20  # lines of a table of another tool
_GAP = 2  # columns between two numbers
Column = tuple[str, list[str]]


def tables(judgement: Judgement, width: int, ink: Ink) -> list[list[str]]:
    """Return the lines of each table: as many columns side by side as fit the width."""
    found = []
    for table in external_commands.tables(judgement):
        if table.note:
            found.append(_reported(table, width, ink))
        else:
            found += [_table(table, some, width, ink) for some in _parts(table, width)]
    return found


def _reported(table: Table, width: int, ink: Ink) -> list[str]:
    """Return the figures of another tool below the sentence that marks them: a line for each case of a benchmark."""
    lines = wrap(table.note, width, "  ", "  ")
    shown = table.lines[:MOST_REPORTED]
    titles = [", ".join(filter(None, (line.label, line.case))) for line in shown]
    room = min(max(map(len, titles)), width // 2)
    for title, line in zip(titles, shown, strict=True):
        values = [f"{table.brought.called(m)} {_value(f)}" for m in table.metrics if (f := line.shown(m)) is not None]
        values += [f"{n} values"] if line.launches and (n := len(line.launches.estimate.launches)) > 1 else []
        texts = (", ".join(values) or provenance.settle(line.reason)).strip()
        if len(title) > room:
            lines += wrap(title, width, "    ", "      ")
            found = wrap(texts, width, " " * 6, " " * 8)
        else:
            found = wrap(texts, width, f"    {title:<{room}}  ", " " * (room + 6))
        lines += found if values else [ink("bad", x) for x in found]
    more = len(table.lines) - len(shown)
    return lines + ([f"    and {count(more, 'more line')} in the report"] if more else [])


def _value(f: Numbered) -> str:
    """Return `52.9 ms [51.8, 54.7]`, without an interval if there are too few values."""
    span = "" if f.estimate.low is None else f" [{provenance.span(f, ', ')}]"
    return str(provenance.settle(f"{provenance.median(f)}{span}"))


def _parts(table: Table, width: int) -> Iterator[list[Column]]:
    part: list[Column] = []
    for column in _columns(table):
        if part and 4 + sum(_size(c) + _GAP for c in [*part, column]) > width:
            yield part
            part = []
        part.append(column)
    yield part


def _columns(table: Table) -> list[Column]:
    """Return the headings with their cells: a metric each, and the launches."""
    found = [(table.brought.called(m), [_cell(line, m) for line in table.lines]) for m in table.metrics]
    found.append((LAUNCHES, [_launches(line) for line in table.lines]))
    return [(head, cells) for head, cells in found if any(cells) or head == LAUNCHES]


def _cell(line: Line, metric: str) -> str:
    """Return `52.9 ms [51.8, 54.7]`, or `52.9 ms [4 launches only]` without an interval."""
    f = line.shown(metric)
    if f is None:
        return ""
    span = f"{provenance.launches(f)} only" if f.estimate.low is None else provenance.span(f, ", ")
    return str(provenance.settle(f"{provenance.median(f)} [{span}]"))


def _launches(line: Line) -> str:
    return "" if line.launches is None else str(len(line.launches.estimate.launches))


def _size(column: Column) -> int:
    return max(map(len, [column[0], *column[1]]))


def _table(table: Table, columns: Sequence[Column], width: int, ink: Ink) -> list[str]:
    heads = "".join(" " * _GAP + head.rjust(_size((head, cells))) for head, cells in columns)
    lines = [ink("dim", f"  {heads}")]
    last = columns[-1][0] == LAUNCHES
    for k, line in enumerate(table.lines):
        numbers = "".join(" " * _GAP + cells[k].rjust(_size((head, cells))) for head, cells in columns)
        if numbers.strip() or last:
            lines += [*_name(line, width, ink), *([f"  {numbers}".rstrip()] if numbers.strip() else [])]
        lines += _notes(table, line, width, ink) if last else []
    return lines


def _notes(table: Table, line: Line, width: int, ink: Ink) -> list[str]:
    """Return the ratio of a command among several, its states, and why it is not ranked."""
    f = line.shown(table.decides)
    texts = [
        f"{line.compared}: {line.ratio.difference}" if line.ratio is not None and len(table.lines) > 2 else "",
        f"bimodal: {describe_states(f.states, f.unit)}" if f is not None and f.states else "",
    ]
    notes = [x for text in texts if text for x in wrap(provenance.settle(text), width, "    ", "      ")]
    style = "bad" if line.launches is None else "warn"
    reason = wrap(provenance.settle(line.reason), width, "    ", "    ") if line.reason else []
    return notes + [ink(style, x) for x in reason]


def _name(line: Line, width: int, ink: Ink) -> list[str]:
    """Return the name of a command and the command as typed, on one line or cut at the width."""
    title = ", ".join(filter(None, (line.label, line.case)))
    typed = line.typed.replace("\n", " ") if line.typed != line.label else ""
    room = width - len(title) - 5
    if not typed or room < 8:
        return wrap(title, width, "  ", "    ")
    typed = typed if len(typed) <= room else typed[: room - 1] + "…"
    return [f"  {title}" + ink("dim", f"   {typed}")]
