"""The HTML page in headless Chromium: no error and no policy violation, on a screen, a phone and paper."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import synthetic_halo
from firstlight.analysis.compare import compare
from firstlight.analysis.figures import judge
from firstlight.core import heritage
from firstlight.model.plan import Placement
from firstlight.report import html
from report_samples import HOSTILE, hostile, sample

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ARGUMENTS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no chromium, chromium-browser or google-chrome in PATH")
    with api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("report")
    a, workloads = sample(1)
    compared = compare(sample(2)[0], a)
    exchanged = synthetic_halo.run(placements=(Placement(1, 1, 1), Placement(1, 2, 1)), launches=6)
    halo = judge(*exchanged), exchanged.workloads
    for name, (judgement, declared) in {"sample": (a, workloads), "hostile": hostile(), "halo": halo}.items():
        html.write(judgement, declared, heritage.load(), folder / f"{name}.html")
    html.write(a, workloads, heritage.load(), folder / "compared.html", compared)
    return {p.stem: p for p in folder.iterdir()}


class Shown:
    """Represent a page, and everything that the console printed."""

    def __init__(self, browser: Any, path: Path, size: str = "desktop", scheme: str = "light") -> None:
        width, height = SIZES[size]
        self.context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        self.page = self.context.new_page()
        self.console: list[str] = []
        self.page.on("console", lambda m: self.console.append(f"{m.type}: {m.text}"))
        self.page.on("pageerror", lambda e: self.console.append(f"error: {e}"))
        self.page.on("dialog", lambda d: (self.console.append(f"dialog: {d.message}"), d.dismiss()))
        self.page.on("request", lambda r: self._request(r.url))
        self.page.add_init_script(
            "document.addEventListener('securitypolicyviolation', e => console.error('policy: ' + e.violatedDirective))"
        )
        self.page.goto(path.as_uri())

    def _request(self, url: str) -> None:
        if not url.startswith(("file:", "data:", "blob:")):
            self.console.append(f"request: {url}")

    def overflow(self) -> int:
        return int(self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))

    def __enter__(self) -> Shown:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        pytest.param(name, scheme, marks=[pytest.mark.newcomer] if (name, scheme) == ("sample", "light") else [])
        for name in ("sample", "hostile", "compared", "halo")
        for scheme in ("light", "dark")
    ],
)
def test_no_error_no_violation_no_request(browser: Any, pages: dict[str, Path], name: str, scheme: str) -> None:
    with Shown(browser, pages[name], scheme=scheme) as shown:
        assert shown.console == []


PLOTS = {"sample": 8, "halo": 6}


@pytest.mark.parametrize("name", ["sample", "halo"])
def test_every_plot_is_drawn_with_points(browser: Any, pages: dict[str, Path], name: str) -> None:
    with Shown(browser, pages[name]) as shown:
        canvases = shown.page.query_selector_all(".canvas")
        assert len(canvases) >= PLOTS[name]
        for canvas in canvases:
            assert canvas.query_selector("svg.chart") is not None
            some = canvas.query_selector_all(".marks > *, .bar, .cell, .dots, .cells")
            assert len(some) > 1 or canvas.query_selector(".dots, .cells"), canvas.get_attribute("id")


@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_lines_have_their_names_at_their_ends_and_cells_their_numbers(
    browser: Any, pages: dict[str, Path], size: str
) -> None:
    with Shown(browser, pages["halo"], size) as shown:
        assert shown.page.locator("#plot-halo-0-0 .label", has_text="shared_flags").count() == 1
        assert shown.page.locator("#plot-halo-0-0 .legend", has_text="shared_flags").count() == 0
        assert shown.page.locator("#plot-halo-0-data-0 .cell-text").count() > 0


@pytest.mark.parametrize("name", ["sample", "halo"])
@pytest.mark.parametrize("size", ["desktop", "phone"])
def test_no_text_of_a_chart_is_cut_or_stands_on_another(
    browser: Any, pages: dict[str, Path], name: str, size: str
) -> None:
    overlaps = """charts => charts.flatMap(chart => {
        const edge = chart.getBoundingClientRect();
        const texts = [...chart.querySelectorAll('text:not(.cell-text)')].filter(t => t.getClientRects().length);
        const boxes = texts.map(t => [t.textContent, t.getBoundingClientRect()]);
        const cut = boxes.filter(([, b]) => b.left < edge.left - 1 || b.right > edge.right + 1 || b.top < edge.top - 2);
        const touch = boxes.flatMap(([s, a], k) => boxes.slice(k + 1).filter(([, b]) =>
            a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3)
            .map(([t]) => `${s} / ${t}`));
        return [...cut.map(([s]) => `cut: ${s}`), ...touch].map(s => `${chart.parentElement.id}: ${s}`);
    })"""
    with Shown(browser, pages[name], size) as shown:
        assert shown.page.eval_on_selector_all("figure.plot > .canvas > .chart", overlaps) == []


def test_hostile_text_is_shown_as_text(browser: Any, pages: dict[str, Path]) -> None:
    with Shown(browser, pages["hostile"]) as shown:
        assert HOSTILE in shown.page.inner_text("body")
        assert shown.page.locator("img, script").count() == 0
        assert "<script>" in shown.page.text_content("#plot-dot-0-0 .legend")


@pytest.mark.parametrize("name", ["sample", "hostile", "compared", "halo"])
def test_nothing_is_wider_than_a_phone(browser: Any, pages: dict[str, Path], name: str) -> None:
    with Shown(browser, pages[name], "phone") as shown:
        assert shown.overflow() <= 0
        shown.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert shown.overflow() <= 0
        widest = shown.page.evaluate("Math.max(...[...document.querySelectorAll('.canvas')].map(s => s.clientWidth))")
        assert widest <= 390


def test_on_a_phone_a_value_of_several_numbers_stays_next_to_its_label(browser: Any, pages: dict[str, Path]) -> None:
    below_label = """cells => cells.filter(cell => {
            const text = document.createRange();
            text.selectNodeContents(cell);
            const least = cell.getBoundingClientRect().left + 90;
            return [...text.getClientRects()].some(r => r.width && r.left < least);
        }).map(cell => cell.textContent)"""
    with Shown(browser, pages["sample"], "phone") as shown:
        shown.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert shown.page.locator(".stack td[data-label] > data + data").count() > 2
        assert shown.page.eval_on_selector_all(".stack td[data-label]", below_label) == []


@pytest.mark.parametrize("name", ["sample", "compared", "halo"])
def test_nothing_is_wider_than_paper(browser: Any, pages: dict[str, Path], name: str, tmp_path: Path) -> None:
    with Shown(browser, pages[name], scheme="dark") as shown:
        shown.page.set_viewport_size({"width": 690, "height": 1000})
        shown.page.emulate_media(media="print")
        shown.page.wait_for_timeout(1000)
        assert shown.overflow() <= 0
        assert shown.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        tick = "getComputedStyle(document.querySelector('.chart .name')).fill"
        assert shown.page.evaluate(tick) == "rgb(0, 0, 0)"
        shown.page.pdf(path=tmp_path / "report.pdf", format="A4")
        assert (tmp_path / "report.pdf").stat().st_size > 10_000


def test_plots_take_the_colours_of_the_page(browser: Any, pages: dict[str, Path]) -> None:
    tick = "getComputedStyle(document.querySelector('.chart .name')).fill"
    ink = "getComputedStyle(document.body).color"
    with Shown(browser, pages["sample"], scheme="light") as shown:
        light = shown.page.evaluate(tick)
        assert light == shown.page.evaluate(ink)
        shown.page.emulate_media(color_scheme="dark")
        shown.page.wait_for_timeout(1000)
        dark = shown.page.evaluate(tick)
        assert dark == shown.page.evaluate(ink) and dark != light


def test_keyboard_and_screen_reader_reach_every_plot(browser: Any, pages: dict[str, Path]) -> None:
    with Shown(browser, pages["sample"]) as shown:
        assert shown.page.evaluate("[...document.querySelectorAll('.chart')].every(c => c.getAttribute('aria-label'))")
        summary = shown.page.locator("figure.plot details summary", has_text="Table").first
        summary.focus()
        shown.page.keyboard.press("Enter")
        assert shown.page.locator("figure.plot details[open] table").first.is_visible()


def test_a_mark_shows_its_launches_and_no_command(browser: Any, pages: dict[str, Path]) -> None:
    with Shown(browser, pages["sample"]) as shown:
        found = "|".join(shown.page.locator("#plot-dot-0-0 .marks title").all_text_contents())
        assert "8 launches: " in found and "dot.simd rate, n = 100 (clang-native)" in found and "./fl" not in found
