"""The HTML page as text: all of it is there, nothing foreign is markup, the file is written whole or not at all."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html as markup
import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from msgspec.json import encode as json_of
from msgspec.structs import replace

import chart_tree
from documented import computed
from firstlight.analysis import absence, formatting
from firstlight.analysis.compare import compare
from firstlight.analysis.verdict import Verified
from firstlight.core import heritage
from firstlight.report import failures, html
from firstlight.report.export.comparison import compared as export_of
from report_samples import HOSTILE, hostile, sample


class Reader(HTMLParser):
    """Collects elements, ids, links and scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


@cache
def page(which: str = "sample") -> str:
    judgement, workloads = hostile() if which == "hostile" else sample()
    return html.render(judgement, workloads, heritage.load())


def test_the_policy_allows_no_script_and_the_page_has_none() -> None:
    for which in ("sample", "hostile"):
        reader = Reader(page(which))
        policy = next(a["content"] for t, a in reader.tags if a.get("http-equiv") == "Content-Security-Policy")
        assert policy is not None and policy.startswith("default-src 'none'; ")
        assert "script-src" not in policy and "unsafe-eval" not in policy
        assert not [t for t, _ in reader.tags if t == "script"]


def test_no_line_breaks_a_flag_of_a_compiler() -> None:
    found = html.annotate("clang-fast (-Ofast -fno-fast-math), 1.1 - 1.3 s, --all <b>", {})
    flag = '<span class="flag">{}</span>'.format
    flags = f"({flag('-Ofast')} {flag('-fno-fast-math')})"
    assert found == f"clang-fast {flags}, 1.1 - 1.3\u00a0s, {flag('--all')} &lt;b&gt;"
    assert flag("-Ofast") in page() and ".flag { display: inline-block;" in page()


def test_every_chart_of_the_page_is_well_formed_and_small() -> None:
    for which in ("sample", "hostile"):
        charts = chart_tree.of_page(page(which))
        assert len(charts) >= 9 and all(chart_tree.words(c) for c in charts.values())
    sizes = [len(c) for c in re.findall(r'<div class="canvas".*?</div>', page(), flags=re.S)]
    assert max(sizes) < 80_000


def test_every_card_and_every_chart_of_values_shows_the_better_direction() -> None:
    cards = re.findall(r'<p class="number" title=.*?</p>', page(), flags=re.S)
    ways = [re.findall(r'aria-label="(higher|lower) is better"[^>]*>([↑↓])</span>', card) for card in cards]
    assert cards and all(way in ([("higher", "↑")], [("lower", "↓")]) for way in ways) and len({*map(str, ways)}) == 2
    axes = [
        word for chart in chart_tree.of_page(page()).values() for word in chart_tree.words(chart) if "better" in word
    ]
    assert {"rate (Gflop/s), higher is better", "latency (ns), lower is better"} <= {*axes}


def test_a_share_of_a_ceiling_names_its_value() -> None:
    shares = re.findall(
        r'data-from="a / a.ceiling"[^>]*>[^<]*%</data> of (?:[a-z ]+, (?:at best )?)?<data ([^>]*)>([^<]+)<', page()
    )
    assert shares and all('data-from="a.ceiling"' in source and text.endswith("/s") for source, text in shares)


def test_the_page_loads_nothing() -> None:
    for tag, attributes in Reader(page()).tags:
        for name in ("src", "href", "action", "data"):
            value = attributes.get(name) or ""
            assert value == "" or value.startswith(("#", "data:")), (tag, name, value[:60])


def test_links_lead_to_places_on_the_page() -> None:
    tags = Reader(page()).tags
    ids = [a["id"] for _, a in tags if a.get("id")]
    assert len(ids) == len(set(ids))
    links = {a["href"][1:] for _, a in tags if (a.get("href") or "").startswith("#")}  # type: ignore[index]
    assert links <= set(ids)


def test_the_page_is_small_enough_for_a_mail() -> None:
    assert len(page().encode()) < html.MOST_BYTES


def test_the_download_holds_every_figure_and_its_hash_is_printed() -> None:
    judgement, _ = sample()
    tags = Reader(page()).tags
    link = next(a["href"] for t, a in tags if t == "a" and "download" in a)
    assert link is not None
    content = gzip.decompress(base64.b64decode(link.partition(",")[2]))
    rows = json.loads(content)
    assert len(rows) == len(judgement.figures)
    assert hashlib.sha256(content).hexdigest() in page()
    first = next(f for f in judgement.figures if isinstance(f, Verified))
    assert rows[judgement.figures.index(first)]["values"] == list(first.estimate.launches)
    assert all(r["median"] is None for r in rows if r["verdict"] == "failed")


def test_hostile_text_is_text() -> None:
    ordinary, spoiled = Reader(page()), Reader(page("hostile"))
    for tag in ("script", "img", "style", "iframe", "object", "link"):
        assert sum(t == tag for t, _ in spoiled.tags) == sum(t == tag for t, _ in ordinary.tags), tag
    assert not any(name.startswith("on") for _, attributes in spoiled.tags for name in attributes)
    assert "<script>alert(1)" not in page("hostile") and "<img src=x" not in page("hostile")
    assert markup.escape(HOSTILE) in page("hostile").replace("&#34;", "&quot;")
    assert "49" not in re.findall(r"<!--(\d+)", page("hostile"))


def test_every_section_of_the_design_is_there() -> None:
    ids = {a.get("id") for _, a in Reader(page()).tags}
    wanted = {
        "answer",
        "findings",
        "machine",
        "chapter-node",
        "chapter-network",
        "choose",
        "failed",
        "measured",
        "repeat",
    }
    assert wanted <= ids


def test_every_plot_has_a_table_behind_it() -> None:
    text = page()
    figures = re.findall(r'<figure class="plot.*?</figure>', text, flags=re.S)
    assert len(figures) >= 9
    assert all('<table class="stack">' in f and "<tbody>" in f and "<figcaption>" in f for f in figures)


def test_failed_cells_are_hatched_with_the_reason() -> None:
    cells = re.findall(r'<td class="hatched" title="([^"]*)">failed</td>', page())
    assert cells and all("1e7 x 1e-16" in markup.unescape(c) for c in cells)


def test_what_failed_and_what_is_absent_is_there_once() -> None:
    judgement, workloads = sample()
    run = replace(judgement.run, not_available=judgement.run.toolbox.absent + judgement.run.not_available)
    text = html.render(replace(judgement, run=run), workloads, heritage.load())
    section = markup.unescape(text[text.index('id="failed"') : text.index('id="measured"')])
    for entry in failures.failures(judgement):
        assert section.count(f"<b>{entry.program}</b>{entry.title.removeprefix(entry.program)}") == 1
        assert all(f"{formatting.name(f.identity)}: {f.reason}" in section for f in entry.figures)
    shown = absence.absences(replace(judgement, run=run))
    assert shown and section.count('<tr><td data-label="what">') == len(shown)


def test_too_few_is_said_once_on_a_card() -> None:
    judgement, workloads = sample(1, 3)
    page = html.render(judgement, workloads, heritage.load())
    cards = re.findall(r'<li class="card.*?</li>', page, flags=re.S)
    assert any("no choice yet" in c for c in cards)
    assert cards and all(c.count("too few") == 1 for c in cards)


def test_rows_that_are_no_headlines_stand_in_their_chapter_and_what_was_left_out_is_listed() -> None:
    judgement, workloads = sample()
    node = tuple(replace(r, headline=r.order == 40) for r in workloads["dot"].rows)
    left_out = replace(workloads["dot"], name="later", title="Measured later", rows=(), suites={"standard": []})
    changed = workloads | {"dot": replace(workloads["dot"], rows=node), "later": left_out}
    page = re.sub(r"</?data[^>]*>", "", html.render(judgement, changed, heritage.load()))
    assert re.findall(r'<li class="card.*?<h3>(.*?)</h3>', page, flags=re.S) == ["scalar product in L1"]
    chapter = page[page.index('id="chapter-node"') : page.index('id="chapter-network"')]
    assert '<th scope="row">scalar product in memory <span class="muted">dot.' in chapter
    assert '<th scope="row">scalar product in L1</th>' not in page
    assert "<code>./fl run later --standard</code>" in page[page.index('id="unmeasured"') :]


def test_the_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judgement, workloads = sample()
    path = tmp_path / "report.html"
    path.write_text("before", encoding="utf-8")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("firstlight.results.store.disk.os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        html.write(judgement, workloads, heritage.load(), path)
    assert path.read_text(encoding="utf-8") == "before" and list(tmp_path.iterdir()) == [path]
    monkeypatch.undo()
    html.write(judgement, workloads, heritage.load(), path)
    assert path.read_text(encoding="utf-8") == page() and list(tmp_path.iterdir()) == [path]


def test_a_comparison_is_the_same_page_for_two_runs() -> None:
    a, workloads = sample(1)
    b = sample(2)[0]
    compared = compare(a, b)
    text = html.render(b, workloads, heritage.load(), compared)
    section = text[text.index('id="compared"') : text.index('id="machine"')]
    assert f">{compared.counts['same']}</data></b>the same" in section
    assert section.count("<tr>") >= len(compared.figures)
    formulas = computed(section, json_of(export_of(compared)).decode())
    wanted = {
        f"figures[{k}].{what}" for k in range(len(compared.figures)) for what in ("a.median", "b.median", "ratio")
    }
    assert wanted <= set(formulas) and {"counts.same", "threshold", "drift", "confidence"} <= set(formulas)


def test_an_empty_run_is_still_a_page() -> None:
    judgement, workloads = sample()
    from firstlight.analysis import Judgement

    text = html.render(Judgement(judgement.run, (), (), ()), workloads, heritage.load())
    assert "No row of the summary was measured" in text


def test_numbers_without_a_dimension_have_a_page() -> None:
    judgement, workloads = sample()
    bare = tuple(replace(f, unit="1") if isinstance(f, Verified) else f for f in judgement.figures)
    page = html.render(replace(judgement, figures=bare), workloads, heritage.load())
    answer = page[page.index('id="answer"') : page.index('id="machine"')]
    alone = re.findall(r'data-from="a" data-unit="1" data-of="\d+">([^<]*)</data>', answer)
    assert alone and all(re.fullmatch(r"[\d.e-]+", number) for number in alone), alone
    assert "<span></span>" not in answer
