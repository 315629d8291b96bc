"""The HTML page: one offline file under a strict content security policy, for screen, phone and paper."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from firstlight.analysis import Finding, Judgement, flags_advice, formatting, ordinary, provenance
from firstlight.analysis.absence import absences
from firstlight.analysis.compare import Comparison
from firstlight.analysis.evidence import diverged
from firstlight.analysis.steadiness import disturbances
from firstlight.analysis.verdict import Failed, Figure, Identity, Verified
from firstlight.core import confidence, units
from firstlight.core.heritage import Heritage
from firstlight.core.shell import as_typed, command, line, visible
from firstlight.model.catalogue import Workload
from firstlight.report import answers as answering
from firstlight.report import (
    bounds,
    chapters,
    comparison,
    drawing,
    energy,
    export,
    external_commands,
    failures,
    kernels,
    maps,
    matrix,
    method,
    plots,
    strip,
    svg,
    terminal,
    verdict,
    wording,
)
from firstlight.report.answers import Front
from firstlight.report.frame import Drawing, View
from firstlight.report.palette import DARK, GREY, Palette
from firstlight.report.plots import spread, thrift
from firstlight.report.svg import typeset
from firstlight.report.unmeasured import unanswered, unbegun, unmeasured
from firstlight.results.store.durable import replace

TEMPLATES = Path(__file__).parent / "templates"
MOST_BYTES = 1_500_000  # of the page of a quick run
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
"""The content security policy: no script, inline styles, images in data, nothing else."""
MOST_CAPTION = 100  # characters; a longer one is folded
MOST_ROWS = 1500  # of a table behind a plot; the rest is in the download
_UNIT = re.compile(
    r"(?<=\d) (?=[×%]|x\b|[kMGTPmunp]?(?:flop/s|B/s|s\b|B\b|bit/s)|[KMGT]iB)|(?<=[αβN]) (?==)|(?<==) (?=\d)"
)
_FLAG = re.compile(r"(?<![\w-])--?[A-Za-z](?:[\w=+./:,-]*[\w+])?")


class Section(msgspec.Struct):
    """One workload in a chapter."""

    workload: Workload
    drawings: list[Drawing]


def write(
    judgement: Judgement,
    workloads: Mapping[str, Workload],
    heritage: Heritage,
    path: Path,
    compared: Comparison | None = None,
) -> None:
    """Write the page to `path` atomically: to a temporary name first, then renamed. Raises OSError if it cannot."""
    replace(path, render(judgement, workloads, heritage, compared).encode())


def render(
    judgement: Judgement,
    workloads: Mapping[str, Workload],
    heritage: Heritage,
    compared: Comparison | None = None,
    table: list[export.Row] | None = None,
) -> str:
    """Return the page as text. `table`: its figures with their launches, if they are exported already."""
    view = View(judgement, workloads, heritage, Palette(judgement.run))
    found, tables = answering.answers(judgement, workloads), external_commands.tables(judgement)
    front = answering.front(judgement.run, found)
    brought = {one.chapter for one in judgement.run.brought}
    sections = _chapters(view, front)
    table = export.rows(judgement, launches=True) if table is None else table
    page = _facts(judgement, workloads, view.palette, front, msgspec.json.encode(table)) | {
        "chapters": [c for c in sections if c["name"] not in brought or not tables],
        "external": tables,
        "own": [part for c in sections if c["name"] in brought for part in c["parts"]],
        "by_axis": [
            a for a in found if a.chapter in brought and a.row.choose not in {t.brought.choose for t in tables}
        ],
        "spread": _spread(view),
        "thrift": thrift.thrift(view),
        "compared": compared,
        "compared_groups": comparison.groups(compared) if compared is not None else [],
        "compared_numbers": comparison.summary_numbers(compared) if compared is not None else {},
        "compared_first": comparison.warnings(compared) if compared is not None else [],
    }
    drawings = [d for c in sections for some in (c["overview"], *(p.drawings for p in c["parts"])) for d in some]
    template = "commands.html.j2" if tables else "report.html.j2"
    return page_of(TEMPLATES / template, page, drawings + page["spread"] + page["thrift"], judgement.figures)


def page_of(
    template: Path, page: Mapping[str, Any], drawings: Iterable[Drawing], figures: Iterable[Figure] = ()
) -> str:
    """Fill a template with its facts and drawings, in the frame of all our pages: style and security policy.

    `figures`: those that the numbers of its sentences may come from, in the order of the download.
    """
    import jinja2
    from markupsafe import Markup, escape

    class Own(Markup):
        """Markup of firstlight, which the page contains unchanged."""

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader([template.parent, TEMPLATES]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    index = {f.identity: k for k, f in enumerate(figures)}
    environment.globals |= {
        "confidence": confidence,
        "meanings": wording.MEANINGS,
    }
    environment.filters |= {
        "annotate": lambda text: annotate(text, index),
        "named": lambda title: annotate(provenance.name(title), index),
        "median": provenance.median,
        "span": provenance.span,
        "share": provenance.share,
        "ceiling": provenance.ceiling,
        "resource": wording.resource,
        "measured_with": wording.measured_with,
        "launches": provenance.launches,
        "launched": lambda f: provenance.number(str(len(f.estimate.launches)), "a.launches", of=(f,)),
        "quantity": units.quantity,
        "percent": units.percent,
        "name": formatting.name,
        "count": units.count,
        "chapter": chapters.name,
        "word": lambda text: line([text]),
        "states": provenance.two_states,
        "headline": lambda figure: headline(figure, index),
        "flags_best": flags_advice.best_in,
        "flags_measured": flags_advice.measured,
        "flags_loss": flags_advice.loss,
        "counted": lambda n, what: annotate(provenance.number(str(n), f"count('{what}')"), index),
        "duration": units.duration,
        "unbroken": lambda text: _flags_whole(typeset(unbroken(text))),
        "svg": lambda d: Own(svg.svg(d.title, d.data, d.layout)),
        "ghosts": lambda d: Own(svg.svg(d.title, d.data, d.layout, True)) if svg.has_ghosts(d.data) else "",
        "quantity_in_type": lambda cell: typeset(cell) if cell[:1].isdigit() or "^" in cell else cell,
        "wide": lambda d: bool(d.data) and svg.is_wide(d.data, d.layout),
    }

    def shown(value: object) -> object:
        if not isinstance(value, str) or isinstance(value, Own):
            return value
        quoted = (lambda hint: str(escape(hint))) if isinstance(value, Markup) else str
        return type(value)(visible(as_typed(value, quoted)))

    environment.finalize = shown
    drawings = list(drawings)
    most_rows = MOST_ROWS
    if len(index) > bounds.LARGE:
        bounds.lighten(drawings)
        most_rows = bounds.most_rows(drawings, MOST_ROWS)
    own = {"style": Own((TEMPLATES / "report.css").read_text(encoding="utf-8") + _dark_style()), "policy": Own(POLICY)}
    return environment.get_template(template.name).render(
        {**page, "most_rows": most_rows, "most_caption": MOST_CAPTION, **own}
    )


def annotate(text: str, index: Mapping[Identity, int]) -> str:
    """Return the sentence with the source of each number: `<data data-from="a / b" data-of="3 17">1.6 x</data>`.

    `data-of` counts the figures of the download, and of `./fl figures --json`, from 0.
    """
    from markupsafe import Markup

    sentence = provenance.settle(text)
    parts: list[str] = []
    at = 0
    plain = unbroken_at_numbers(sentence)
    for s in sentence.sources:
        source = provenance.attributes(s, index)
        if source is None:
            continue
        parts.append(_flags_whole(typeset(plain[at : s.start])))
        parts.append(_data(sentence[s.start : s.end], source, typeset(plain[s.start : s.end])))
        at = s.end
    return Markup().join([*parts, _flags_whole(typeset(plain[at:]))])


def _flags_whole(text: str) -> str:
    """Return the text, escaped, with each flag of a compiler in an element of its own, which no line breaks."""
    from markupsafe import Markup, escape

    return Markup(_FLAG.sub(r'<span class="flag">\g<0></span>', str(escape(text))))


def headline(figure: Verified, index: Mapping[Identity, int]) -> str:
    """Return the median as `annotate` does, with its unit in a smaller font."""
    from markupsafe import Markup, escape

    (source,) = provenance.settle(provenance.median(figure)).sources
    number, unit = units.parts(figure.estimate.median, figure.unit)
    shown = Markup("{}<span>{}</span>").format(typeset(number), typeset(unit)) if unit else escape(typeset(number))
    found = provenance.attributes(source, index)
    return shown if found is None else _data(units.quantity(figure.estimate.median, figure.unit), found, shown)


def _data(value: str, source: Mapping[str, Any], shown: str) -> str:
    """Return the element of one number with its source."""
    from markupsafe import Markup

    return Markup('<data value="{}" data-from="{}" data-unit="{}" data-of="{}">{}</data>').format(
        value, source["from"], source["unit"], source["of"], shown
    )


def unbroken(text: str) -> str:
    """Return the text with a no-break space between numbers and units, and without breaks in 1/β and 1/γ."""
    return unbroken_at_numbers(text).replace("1/β", "1/\u2060β").replace("1/γ", "1/\u2060γ")


def unbroken_at_numbers(text: str) -> str:
    """Return the text with no-break spaces at numbers only; its length does not change."""
    return _UNIT.sub("\u00a0", text)


def _dark_style() -> str:
    """Return style rules for the colours of small drawings in the page's own markup in dark mode."""
    rules = (f'[{what}="{light}"]{{{what}:{dark}}}' for light, dark in DARK.items() for what in ("stroke", "fill"))
    return f"@media screen and (prefers-color-scheme:dark){{{''.join(rules)}}}"


def _facts(
    judgement: Judgement, workloads: Mapping[str, Workload], palette: Palette, front: Front, figures: bytes
) -> dict[str, Any]:
    """Return what the template shows. `figures`: the download, as `./fl figures --json --launches` prints it."""
    run = judgement.run
    drawn_maps, more_maps = maps.maps(judgement)
    return {
        "run": run,
        "machine": run.machine,
        "date": wording.date(run),
        "took": wording.took(run),
        "machine_line": terminal.machine_line(judgement),
        "tools": wording.tools(run),
        "effort": wording.effort(run),
        "title": wording.title(run),
        "verified": wording.verified(run),
        "interval": units.interval,
        "cards": [(a, strip.strip(a.best) if a.best else None, _accent(palette, a)) for a in front.rows],
        "possible": front.possible,
        "more_rows": terminal.more_rows(front) if front.cut else "",
        "unmeasured": unmeasured(run, workloads),
        "unbegun": unbegun(judgement),
        "unanswered": unanswered(judgement, workloads, {a.row.title for a in (*front.rows, *front.others)}),
        "verdict": verdict.verdict(judgement, workloads),
        "ordinary": (plain := ordinary.ordinary(judgement, workloads)),
        "libraries": matrix.of_libraries(judgement, workloads),
        "counts": terminal.counted(judgement),
        "findings": [(f, _evidence_link(f, judgement)) for f in sorted(judgement.findings, key=lambda f: -f.weight)],
        "picture": drawing.picture(judgement),
        "energy": energy.sentence(judgement),
        "maps": drawn_maps,
        "more_maps": more_maps,
        "disturbed": _disturbed(judgement),
        "matrices": [*filter(None, [matrix.of_ordinary(judgement, plain)]), *matrix.matrices(judgement, workloads)],
        "failures": failures.failures(judgement),
        "absences": absences(judgement),
        "builds": [(b.program.key, formatting.bare(b.error)) for b in run.builds if not b.ok],
        "lost": [formatting.bare(line) for line in judgement.lost],
        "built_with": method.built_with(run),
        "method": method.paragraphs(judgement),
        "descriptions": sorted(
            {(d.workload, d.title, d.verified, d.tolerance, d.cost) for d in run.descriptions.values()}
        ),
        "kernels": kernels.kernels(run),
        "environment": method.environment(run),
        "commands": _commands(judgement),
        "download": _download(figures),
        "sha256": hashlib.sha256(figures).hexdigest(),
        "built": [(b.program.key, b.sha256) for b in run.builds if b.ok],
        "launched": [(f"{r.start.cell}.{r.start.launch:04d}", r.exit.sha256) for r in judgement.records]
        if len(judgement.records) <= bounds.RECORDS
        else [],
        "records": len(judgement.records),
    }


def _accent(palette: Palette, answer: answering.Answer) -> str:
    if answer.best is None:
        return GREY
    i = answer.best.identity
    return palette.colour(i.mpi or i.toolchain)


def _chapters(view: View, front: Front) -> list[dict[str, Any]]:
    """Return the chapters with a measured workload, in the order of `chapters.place`; unknown ones after."""
    measured = {f.identity.workload for f in view.judgement.figures}
    some = [w for w in view.workloads.values() if w.name in measured]
    some.sort(key=lambda w: (min([r.order for r in w.rows], default=10**6), w.name))
    names = sorted({w.chapter for w in some}, key=chapters.place)
    return [
        {
            "name": name,
            "title": chapters.title(name),
            "label": chapters.name(name),
            "rows": [a for a in front.others if a.chapter == name],
            "overview": plots.overview(view, name),
            "parts": [Section(w, plots.draw(view, w)) for w in some if w.chapter == name],
        }
        for name in names
    ]


def _spread(view: View) -> list[Drawing]:
    return [d for d in (spread.distributions(view), spread.drift(view)) if d is not None]


def _evidence_link(finding: Finding, judgement: Judgement) -> str:
    """Return the link to the place on the page that shows the finding's evidence."""
    failed = {f.identity for f in judgement.figures if isinstance(f, Failed)}
    if any(i in failed for i in finding.about):
        return "#failed"
    if finding.rule == "rank_placement":
        return "#machine"
    return f"#w-{finding.about[0].workload}" if finding.about else "#measured"


def _disturbed(judgement: Judgement) -> list[str]:
    """Return what may have disturbed the measurement: what the machine does not report, slow launches, lost time."""
    reasons = [*judgement.run.machine.warnings, *disturbances(judgement.steadiness)]
    some, samples = diverged(judgement.records)
    if some > 0:
        many = provenance.number(units.percent(some / samples), "diverged() / samples()")
        reasons.append(f"wall and CPU time diverged in {many} of the samples: other processes used the processors")
    return reasons


def _download(figures: bytes) -> str:
    """Return the figures, compressed, as a data URL; "" if they are too large to embed in the page."""
    if len(figures) > bounds.EMBEDDED:
        return ""
    return "data:application/gzip;base64," + base64.b64encode(gzip.compress(figures, mtime=0)).decode()


def _commands(judgement: Judgement) -> list[tuple[str, str]]:
    run = judgement.run
    again = sorted({wording.repeat(f.identity, run) for f in judgement.figures})
    listed = [("the whole run", wording.again(run)), ("every figure as data", command("figures", run.id, "--json"))]
    listed += [("check this run's records", command("check", run.id))]
    more = [f"# and {len(again) - bounds.LISTED} more"] if len(again) > bounds.LISTED else []
    return listed + [("", line) for line in (*again[: bounds.LISTED], *more)]
