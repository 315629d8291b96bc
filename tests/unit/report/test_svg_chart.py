"""Charts as SVG: well-formed, escaped, with marks inside of their frame, and nothing of a drawing left out."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import chart_tree
from firstlight.report import frame, svg
from firstlight.report.frame import Drawing
from firstlight.report.svg import element, few, heat, keys

HOSTILE = "</title><script>alert(1)</script>\" ' & \x00\x1b \u202e <img src=x onerror='x'>"
BLUE = "#0072B2"


def line(x: list[Any], y: list[Any], **more: Any) -> dict[str, Any]:
    look = {"line": {"color": BLUE}, "marker": {"color": BLUE, "symbol": "circle"}}
    return {"type": "scatter", "mode": "lines+markers", "name": "a line", "x": x, "y": y, **look, **more}


def chart(*traces: dict[str, Any], ghosts: bool = False, **layout: Any) -> ElementTree.Element:
    return ElementTree.fromstring(svg.svg("title", traces, layout, ghosts))


def log_log(*traces: dict[str, Any], **more: Any) -> ElementTree.Element:
    return chart(*traces, xaxis=frame.log_axis("x"), yaxis=frame.log_axis("y"), **more)


def inner(root: ElementTree.Element) -> tuple[float, float, float, float]:
    """Return the frame with its margin for marks at the edge."""
    window = next(e for e in root if e.tag == f"{chart_tree.SVG}svg")
    left, top, wide, high = (float(window.get(k, "")) for k in ("x", "y", "width", "height"))
    return left, top, left + wide, top + high


@settings(max_examples=40)
@given(st.lists(st.tuples(st.floats(1e-6, 1e9), st.floats(1e-6, 1e9)), min_size=3, max_size=40))
def test_points_lie_inside_of_the_frame_with_their_intervals_around_them(points: list[tuple[float, float]]) -> None:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    half = {"array": [y / 2 for y in ys], "arrayminus": [y / 3 for y in ys], "color": BLUE, "width": 3}
    root = log_log(line(xs, ys, error_y=half))
    left, top, right, bottom = inner(root)
    circles = list(next(chart_tree.of_class(root, "marks"))) if len(set(xs)) > few.MOST_PLACES else []
    for e in circles:
        assert left <= float(e.get("cx", "")) <= right and top <= float(e.get("cy", "")) <= bottom
    for e in chart_tree.of_class(root, "error") if circles else ():
        for x, low, high in re.findall(r"M([\d.]+) ([\d.]+)V([\d.]+)", e.get("d", "")):
            assert left <= float(x) <= right and top <= float(high) < float(low) <= bottom
            near = [float(c.get("cy", "")) for c in circles if abs(float(c.get("cx", "")) - float(x)) < 0.06]
            assert any(float(high) - 0.1 <= y <= float(low) + 0.1 for y in near)


def test_coordinates_have_one_decimal_and_a_chart_of_many_points_is_small() -> None:
    n = 400
    hover = ["<b>12.3 GB/s</b>  (12.1 – 12.6)<br>" + 200 * "x"] * n
    ys = [1 + (k % 17) / 3 for k in range(n)]
    text = svg.svg("t", [line(list(range(1, n + 1)), ys, hovertext=hover, hoverinfo="text")], {})
    assert len(text) < 30_000 and not re.search(r"\d\.\d\d", text)
    assert chart_tree.hovers(log_log(line([1, 2, 3], [1, 2, 3], hovertext=hover[:3], hoverinfo="text")))[0].startswith(
        "12.3"
    )


def test_foreign_text_is_text() -> None:
    foreign = frame.text(HOSTILE)
    root = log_log(
        line([1, 2, 3], [1, 2, 3], name=foreign, hovertext=[foreign] * 3, hoverinfo="text"),
        line([1, 2, 3], [2, 2, 2], name=HOSTILE, hovertext=[HOSTILE] * 3, hoverinfo="text"),
        annotations=[{"x": 0.1, "y": 0.1, "text": foreign}],
    )
    assert not [e for e in root.iter() if e.tag.endswith(("script", "img"))]
    shown = "\n".join(chart_tree.words(root) + chart_tree.hovers(root))
    assert "<script>alert(1)</script>" in shown and "\x00" not in shown and "\u202e" not in shown
    assert "<script>" not in svg.svg(HOSTILE, [line([1], [1])], {})


def test_tags_of_labels_are_stripped_and_breaks_are_lines() -> None:
    assert (
        element.plain("<b>1</b><br><sub>2</sub> &lt;b&gt; 8^3 cells, 12 us, 10^-6") == "1\n2 <b> 8³ cells, 12 µs, 10⁻⁶"
    )
    assert element.plain("bus usage, us/step (us)") == "bus usage, µs/step (µs)"


@pytest.mark.parametrize(
    ("trace", "layout"),
    [
        ({"surprise": 1}, {}),
        ({"marker": {"color": BLUE, "surprise": 1}}, {}),
        ({}, {"surprise": 1}),
        ({}, {"xaxis": {"surprise": 1}}),
        ({}, {"annotations": [{"x": 1, "y": 1, "text": "", "surprise": 1}]}),
        ({"type": "pie"}, {}),
    ],
)
def test_an_unknown_key_is_an_error(trace: dict[str, Any], layout: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="unknown"):
        keys.check([line([1], [1]) | trace], layout)
    with pytest.raises(ValueError, match="unknown"):
        Drawing("d", "t", "c", (), [], [line([1], [1]) | trace], layout)


def test_unknown_colours_and_symbols_are_errors() -> None:
    with pytest.raises(ValueError, match="colour"):
        element.paint("red")
    with pytest.raises(ValueError, match="symbol"):
        chart(line([1, 2, 3], [1, 2, 3], marker={"color": BLUE, "symbol": "heart"}))


def test_lines_through_one_or_two_places_are_bars_with_intervals_and_levels() -> None:
    own = {"array": [1, 1], "arrayminus": [0.5, 0.5], "color": BLUE}
    ideal = {"type": "scatter", "mode": "lines", "name": "ideal", "x": [1, 2], "y": [4, 2], "line": {"color": "@ghost"}}
    root = log_log(line([1, 2], [4, 2.5], error_y=own, name="threads"), ideal)
    bars = list(chart_tree.of_class(root, "bar"))
    assert len(bars) == 2 and len(list(chart_tree.of_class(root, "error"))) == 2
    assert float(bars[0].get("height", "")) / float(bars[1].get("height", "")) == pytest.approx(4 / 2.5, rel=0.02)
    assert {"0", "1", "2", "threads", "ideal"} <= set(chart_tree.words(root))
    assert not list(chart_tree.of_class(log_log(line([1, 2, 3], [1, 2, 3])), "bar"))
    assert not list(chart_tree.of_class(log_log(line([1, 2], [1, 100])), "bar"))  # too far apart for an axis from zero


def test_historical_lines_are_drawn_only_when_asked_for() -> None:
    old = line([1, 2, 3], [1e-3, 1e-3, 1e-3], name="1996", legendgroup="ghosts")
    assert svg.has_ghosts([old]) and "1996" not in chart_tree.words(log_log(line([1, 2, 3], [1, 2, 3]), old))
    assert "1996" in chart_tree.words(log_log(line([1, 2, 3], [1, 2, 3]), old, ghosts=True))


def test_bars_are_stacked_grouped_or_laid_over_each_other() -> None:
    def tops(mode: str) -> list[tuple[float, float]]:
        some = [{"type": "bar", "name": n, "x": ["a"], "y": [2], "marker": {"color": BLUE}} for n in "pq"]
        found = chart_tree.of_class(chart(*some, barmode=mode), "bar")
        return [(float(e.get("x", "")), float(e.get("y", ""))) for e in found]

    (stack, over), (left, right), (one, other) = tops("stack"), tops("group"), tops("overlay")
    assert stack[0] == over[0] and stack[1] > over[1]
    assert left[0] < right[0] and left[1] == right[1] and one == other


def test_a_lying_bar_begins_at_zero_and_a_reversed_axis_begins_at_the_top() -> None:
    bar = {"type": "bar", "orientation": "h", "x": [1, 3], "y": ["first", "second"], "marker": {"color": BLUE}}
    root = chart(bar, yaxis={"autorange": "reversed", "type": "category"})
    one, two = chart_tree.of_class(root, "bar")
    assert one.get("x") == two.get("x") and float(one.get("y", "")) < float(two.get("y", ""))
    assert float(two.get("width", "")) == pytest.approx(3 * float(one.get("width", "")), rel=0.01)


def test_few_cells_have_their_text_and_many_are_one_picture() -> None:
    look = {"type": "heatmap", "colorscale": frame.HEAT, "showscale": False}
    small = look | {"x": ["a", "b"], "y": ["r"], "z": [[0, 1]], "text": [["none", "all"]], "texttemplate": "%{text}"}
    root = chart(small)
    assert {"none", "all", "a", "b", "r"} <= set(chart_tree.words(root)) and len(
        list(chart_tree.of_class(root, "cell"))
    ) == 2
    large = chart(look | {"z": [[r * c for c in range(40)] for r in range(40)]})
    (picture,) = large.iter(f"{chart_tree.SVG}image")
    assert picture.get("href", "").startswith("data:image/png;base64,")


def test_colours_go_from_the_page_to_the_end_of_the_scale() -> None:
    none, half, all_of_it = (heat.shade(frame.DIVERGING, share) for share in (0.5, 0.75, 1.0))
    assert (none.opacity, half.opacity, all_of_it.opacity) == (0, 0.5, 1) and all_of_it.fill == frame.WARM[0]
    assert heat.shade(frame.AMOUNTS, 0.0).fill == "#FEE838" and heat.shade(frame.AMOUNTS, 2.0).fill == "#4D6FA8"


def test_labels_do_not_touch_each_other() -> None:
    layout = frame.layout(frame.log_axis("x"), frame.log_axis("y"))
    frame.marks(layout, [(20.0, "L1 32 KiB"), (21.0, "L2 1 MiB"), (22.0, "L3 35 MiB"), (5000.0, "beyond")], 1, 1000)
    layout["annotations"] += [
        {"name": "direct", "x": 1, "xref": "paper", "xanchor": "left", "y": 0.5, "text": f"line {k}"} for k in range(5)
    ]
    layout["annotations"] += [{"x": 1, "y": 0.5, "text": f"level {k}", "xanchor": "left"} for k in range(4)]
    root = chart(line([1, 10, 1000], [1, 10, 100]), **layout)
    found = list(chart_tree.of_class(root, "label"))
    assert len(found) == 3 + 5 + 4
    boxes = []
    for e in found:
        wide, x = element.width(e.text or ""), float(e.get("x", ""))
        left = x - {"middle": wide / 2, "end": wide}.get(e.get("text-anchor", ""), 0)
        boxes.append((left, left + wide, float(e.get("y", "")) - 9, float(e.get("y", "")) + 2))
    for k, (a, b, c, d) in enumerate(boxes):
        assert a >= 0 and b <= 442
        assert not [1 for p, q, r, s in boxes[k + 1 :] if a < q and p < b and c < s and r < d]


def test_pictures_side_by_side_have_frames_of_one_height_and_one_bar_of_colours() -> None:
    field = {"type": "heatmap", "z": [[0, 1], [1, 0]], "zmin": 0, "zmax": 1, "colorscale": frame.HEAT}
    bar = {"title": {"text": "share"}, "tickvals": [0, 1], "ticktext": ["0", "1"]}
    traces = [field | {"xaxis": f"x{n}", "yaxis": f"y{n}", "colorbar": bar, "showscale": n == "2"} for n in ("", "2")]
    one = {"range": [0, 2], "showline": True}
    layout = {f"xaxis{n}": one | {"domain": d} for n, d in (("", [0, 0.4]), ("2", [0.5, 0.9]))}
    layout |= {f"yaxis{n}": one | {"scaleanchor": f"x{n}"} for n in ("", "2")}
    root = chart(*traces, **layout)
    frames = list(chart_tree.of_class(root, "frame"))
    assert (
        len(frames) == 2
        and frames[0].get("width") == frames[1].get("width")
        and frames[0].get("y") == frames[1].get("y")
    )
    assert len(list(chart_tree.of_class(root, "colours"))) == 1


def test_distributions_are_boxes_with_a_dot_for_each_launch() -> None:
    trace = {
        "type": "box", "orientation": "h", "name": "a.b · gcc", "x": [1, 2, 3, 4, 5],
        "fillcolor": "rgba(127,127,127,0.12)", "marker": {"size": 4, "opacity": 0.6, "color": BLUE},
    }  # fmt: skip
    root = chart(trace, yaxis={"type": "category"})
    (dots,) = chart_tree.of_class(root, "dots")
    assert dots.get("d", "").count("M") == 5 and "a.b · gcc" in chart_tree.words(root)


@settings(max_examples=60)
@given(st.lists(st.one_of(st.none(), st.floats(), st.integers()), min_size=1, max_size=6))
@example([1.0, 3.8e293])  # with its margin, the axis ends beyond the largest number
def test_any_number_is_drawn_or_left_out(values: list[Any]) -> None:
    far = [*values, 1e308, 5e-324, 10**400, -1.7e308]
    xs = list(range(1, len(far) + 1))
    own = {"array": [1e308] * 3, "arrayminus": [1.0] * 3, "color": BLUE}
    for some in (values, far):
        log_log(line(xs[: len(some)], some))
        chart(line(xs[: len(some)], some))
        chart({"type": "bar", "x": xs[: len(some)], "y": some, "marker": {"color": BLUE}})
    chart(line([1, 2, 3], [1e308, 1.0, 2.0], error_y=own))


def test_an_axis_of_one_value_or_none_is_still_a_chart() -> None:
    for trace in (line([5], [7]), line([None], [None]), line([], []), line([1, 2, 3], [0, 0, 0])):
        log_log(trace)
        chart(trace)
