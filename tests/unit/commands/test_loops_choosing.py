"""`tune loop`: which candidate runs at which trip counts, records of that, and the page made of them."""

from __future__ import annotations

import ctypes
import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import loops_samples
from commands import Captured, call, needs
from firstlight.commands.loops import Pragma, choosing, dispatch, drawings, judging, records, source
from firstlight.commands.loops import page as pages
from firstlight.commands.loops.choosing import Range
from firstlight.commands.loops.judging import Judged, judged
from firstlight.core.units import quantity, significant
from firstlight.report.html import unbroken
from report_samples import HOSTILE

pytestmark = needs("tune")


def row(trip: int, ratio: float, candidate: str = "") -> Judged:
    return judged([1.0 + 0.001 * k for k in range(12)], [ratio * (1.0 + 0.001 * k) for k in range(12)], trip, candidate)


ratios = st.lists(st.sampled_from([0.3, 0.5, 0.96, 0.995, 1.0, 1.005, 1.1]), min_size=5, max_size=5)


@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), ratios))
def test_a_candidate_is_taken_only_between_trip_counts_at_which_it_was_faster(by: dict[str, list[float]]) -> None:
    at = [8, 16, 32, 64, 128]
    times = {candidate: {t: row(t, r) for t, r in zip(at, some, strict=True)} for candidate, some in by.items()}
    some = choosing.ranges(at)
    for best, (low, high) in zip(choosing.best(times, some), some, strict=True):
        fit = [t for t in times if times[t][low].faster and times[t][high].faster]
        assert (best in fit) if fit else best == ""
        if best:
            gain = [times[t][low].ratio * times[t][high].ratio for t in (best, *fit)]
            assert gain[0] * choosing.ANOTHER**2 <= min(gain) * 1.0001


@given(st.lists(st.booleans(), min_size=7, max_size=7), st.lists(st.sampled_from(["", "a"]), min_size=4, max_size=4))
def test_what_is_not_faster_as_a_whole_goes_back_to_golden(faster: list[bool], chosen: list[str]) -> None:
    some = choosing.ranges([8, 16, 32, 64])
    rows = [row(t, 0.9 if f else 1.0) for t, f in zip((8, 12, 16, 24, 32, 48, 64), faster, strict=True)]
    found = choosing.given_back(chosen, some, rows)
    for k, mine in enumerate((faster[0:2], faster[2:4], faster[4:6], faster[6:])):
        assert found[k] == (chosen[k] if all(mine) else "")


@given(st.integers(0, 5000), st.integers(0, 5000), st.booleans(), st.booleans())
def test_trip_counts_tried_are_those_that_candidates_are_made_for(a: int, b: int, even: bool, odd: bool) -> None:
    pragma = Pragma(low=min(a, b), high=max(a, b), even=even, not_pow2=odd)
    at = choosing.marks(pragma)
    assert at == sorted(at) and all(pragma.takes(t) for t in at)
    if at:
        some = choosing.ranges(at)
        between = choosing.middles(pragma, some)
        assert all(pragma.takes(t) and any(low < t < high for low, high in some) for t in between)
        assert [low for low, _ in some] == at and some[-1].high == at[-1]
        assert choosing.place(some, at[-1]) == len(some) - 1 and choosing.place(some, at[0]) == 0


def test_of_two_places_of_the_arrays_that_counts_where_less_is_gained() -> None:
    requests = []

    def launched(trip: int, longer: int, place: str) -> dict[str, list[float]]:
        requests.append((longer, place))
        mine = {"malloc": 0.5, "lines": 1.25 if longer == 1 else 0.8}[place]
        return {"golden": [1.0 + k / 1000 for k in range(12)], "mine": [mine + k / 1000 for k in range(12)]}

    found = judging.beside(launched, 8, "a")
    assert (found.trip, found.label, found.faster) == (8, "a", True) and found.ratio == pytest.approx(0.8, rel=0.01)
    assert requests == [(1, "malloc"), (1, "lines"), (2, "lines")]  # what seemed slower was measured anew
    assert judging.beside(launched, 8, "golden").ratio == pytest.approx(0.5, rel=0.01)


LOOP = """long count(long n, long k) { long s = 0;
#pragma tune precious trip(4:300) EVEN
  for (long i = 0; i < n; ++i) { s += k; }
  return s; }
"""


@pytest.mark.parametrize("apart", dispatch.APART)
@pytest.mark.parametrize("even", ["", "even"])
@pytest.mark.parametrize("lows", [(4, 20, 100), (0, 4, 30), (50, 60, 70)])
def test_the_dispatcher_takes_each_version_in_its_range_and_golden_elsewhere(
    lows: tuple[int, ...], even: str, apart: dispatch.Apart, tmp_path: Path
) -> None:
    """Versions that add 1 and 3 per call, and golden between them, are distinguished by their results."""
    if shutil.which("gcc") is None:
        pytest.skip("needs gcc")
    (loop,) = source.read(tmp_path / "a.c", LOOP.replace("EVEN", even).encode()).loops
    pieces = [dispatch.Piece(f"s += {k};", loop.params, "gcc", False) for k in (1, 3)]
    some = [dispatch.Version(low, p) for low, p in zip(lows, (pieces[0], None, pieces[1]), strict=True)]
    code = dispatch.functions(loop, "f", some, apart=apart)
    (tmp_path / "a.c").write_text(f"{code}\nvoid called(long n, long k, long *s) {{ f(n, {_order(loop)}); }}\n")
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", tmp_path / "a.so", tmp_path / "a.c"], check=True)
    called = ctypes.CDLL(str(tmp_path / "a.so")).called
    for n in range(320):
        s = ctypes.c_long(0)
        called(ctypes.c_long(n), ctypes.c_long(1000), ctypes.byref(s))
        takes = 4 <= n <= 300 and not (even and n % 2)
        k = sum(low <= n for low in lows)
        assert s.value == (1000 * n if not takes or k in (0, 2) else (1 if k == 1 else 3)), n
    assert code.count("noinline") == {"none": 0, "candidates": 2, "all": 3}[apart]


def _order(loop: source.Marked) -> str:
    return ", ".join(p.name for p in loop.params if p.name != "n")


def test_neighbours_that_are_the_same_are_one_version() -> None:
    some = [Range(4, 8), Range(8, 16), Range(16, 32)]
    times = {"a": {t: row(t, 0.5) for t in (4, 8, 16, 32)}}
    piece = {"a": dispatch.Piece("", (), "gcc", False)}
    found = choosing.versions(["a", "a", ""], some, piece, times)
    assert [(v.low, v.piece is None) for v in found] == [(4, False), (16, True)]


# ---- records and the page ----


def test_records_are_read_as_they_were_written_and_a_defective_one_is_told(tmp_path: Path) -> None:
    file = tmp_path / "a.c"
    wrote = loops_samples.outcomes(file=str(file))
    for one in wrote:
        records.write(one)
    assert sorted(map(repr, records.read(file))) == sorted(map(repr, wrote))
    records.every(file)[0].write_text('{"file": 3}')
    with pytest.raises(Exception, match="remove this file, or tune its loop again") as caught:
        records.read(file)
    assert "\n" not in str(caught.value)


def test_a_page_has_every_number_of_the_data_and_no_other_table() -> None:
    some = json.loads(json.dumps([_plain(one) for one in loops_samples.outcomes()]))
    page = unescape(pages.render(loops_samples.outcomes(), loops_samples.read())).replace("µs", "us")
    shown = {tuple(_cells(r)) for r in re.findall(r"<tr>(<td.*?)</tr>", page, re.DOTALL)}
    wanted: set[tuple[str, ...]] = set()
    for one in some:
        gains = [1 / r["ratio"] for r in one["judged"]]
        for r in one["judged"]:
            between = f"{significant(1 / r['high'])} – {significant(1 / r['low'])}"
            times = (quantity(r["golden"], "s"), quantity(r["mine"], "s"), significant(r["golden"] / r["mine"]))
            wanted.add((str(r["trip"]), one["compiler"], *times, between, r["outcome"], r["told"]))
        if gains:
            name = f"{one['loop']}, {one['compiler']}"
            wanted.add((name, significant(min(gains)), significant(max(gains)), str(len(gains))))
        for t in one["tried"]:
            if t["ratios"]:
                wanted.add((t["told"], *(significant(1 / r) for r in t["ratios"].values())))
    assert shown == wanted
    assert re.search(r"1 of 2 loops runs faster, [\d.]+ to [\d.]+ times as fast<", page)
    assert "the golden loop is used: no candidate is faster" in page
    assert "unroll 3: 4 turns" in re.sub("<.*?>", "", page) and "/home/somebody" not in page
    assert page.count("The loop has changed") == 1  # of `twice`, whose hash is another one
    assert unbroken("at 0 of 3 trip counts") and "at 0 of 3 trip counts" in page


def test_one_measured_loop_is_drawn_once() -> None:
    some = loops_samples.outcomes()
    one = [o for o in some if o.judged][:1]
    assert drawings.overview(one) == [] and drawings.by_trip(one) is not None
    assert len(drawings.overview([one[0], replace(one[0], loop="other")])) == 1


def test_a_page_without_a_faster_loop_counts_none() -> None:
    slow = [replace(one, written="", kept=[], judged=[]) for one in loops_samples.outcomes()]
    page = pages.render(slow, loops_samples.read())
    assert "No loop is faster; 2 loops tried" in page and pages.facts(slow)[0].endswith(
        "no loop is faster; compile the file unchanged"
    )


def _plain(one: object) -> object:
    import msgspec

    return msgspec.to_builtins(one, str_keys=True)


def _cells(html: str) -> list[str]:
    return [re.sub("<.*?>", "", cell).strip() for cell in re.findall(r"<td.*?>(.*?)</td>", html, re.DOTALL)]


def test_what_foreign_files_say_is_text_on_the_page() -> None:
    page = pages.render(loops_samples.outcomes(HOSTILE), loops_samples.read())
    assert "<script>alert" not in page and "<img" not in page and "&lt;script&gt;alert(1)" in page


def test_the_page_is_written_again_and_goes_with_golden(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "a.c"
    file.write_text(loops_samples.CODE)
    code, _, err = call(capsys, "tune", "loop", str(file), "--report")
    assert code == 2 and "no loop of" in err and err.count("\n") == 1
    for one in loops_samples.outcomes(file=str(file)):
        records.write(one)
    code, out, _ = call(capsys, "tune", "loop", str(file), "--report", "--json")
    assert code == 0 and [one["loop"] for one in json.loads(out)] == ["sum", "sum", "twice"]
    assert records.page(file).read_text().count('<section class="part"') == 2
    assert "page: " in call(capsys, "tune", "loop", str(file), "--report")[1]
    call(capsys, "tune", "loop", str(file), "--golden", "--loop", "sum")
    assert len(records.every(file)) == 1 and records.page(file).exists()
    call(capsys, "tune", "loop", str(file), "--golden")
    assert not list((tmp_path / "tuned").iterdir())
