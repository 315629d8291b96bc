"""Keys: what a drawing may contain. An unknown key is an error, so that no part of a drawing is silently left out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_COMMON = "type name xaxis yaxis hoverinfo hovertext hovertemplate legendgroup legendrank showlegend opacity"
_ERROR = "array arrayminus width color"
TRACES = {
    "scatter": f"{_COMMON} x y mode fill fillcolor error_x.({_ERROR}) error_y.({_ERROR}) "
    "line.(color dash width shape) "
    "marker.(color symbol size opacity line.(width color)) text textposition textfont.(color)",
    "bar": f"{_COMMON} x y orientation width error_y.({_ERROR}) marker.(color)",
    "box": f"{_COMMON} x orientation fillcolor marker.(size opacity color)",
    "heatmap": f"{_COMMON} x y z x0 dx y0 dy zmin zmax colorscale showscale xgap text texttemplate "
    "colorbar.(title.(text) tickvals ticktext)",
}
_AXIS = (
    "title.(text) type range rangemode tickvals ticktext autorange categoryarray showticklabels showgrid "
    "zeroline showline scaleanchor domain"
)
LAYOUT = (
    f"xaxis.({_AXIS}) yaxis.({_AXIS}) barmode showlegend "
    "shapes.(type x0 x1 y0 y1 xref yref line.(color width dash)) "
    "annotations.(name x y xref yref xanchor yanchor text font.(color))"
)


def check(data: Sequence[Mapping[str, Any]], layout: Mapping[str, Any]) -> None:
    """Raise ValueError if a drawing has a key that is never drawn."""
    known = set(_paths(LAYOUT))
    unknown = [p for p in _used(layout) if re.sub(r"^([xy]axis)\d+", r"\1", p) not in known]
    for trace in data:
        kind = str(trace.get("type", "scatter"))
        if kind not in TRACES:
            raise ValueError(f"a drawing has traces of the unknown type {kind!r}")
        allowed = set(_paths(TRACES[kind]))
        unknown += [f"{kind}.{p}" for p in _used(trace) if p not in allowed]
    if unknown:
        raise ValueError(f"a drawing has unknown keys: {', '.join(sorted(set(unknown)))}")


def _paths(declared: str, before: str = "") -> Iterator[str]:
    """Yield `a` and `b.c` of the declaration `a b.(c)`."""
    depth, start = 0, 0
    for k, c in enumerate(f"{declared} "):
        depth += (c == "(") - (c == ")")
        if c == " " and depth == 0:
            name, _, inner = declared[start:k].partition(".(")
            start = k + 1
            if inner:
                yield from _paths(inner[:-1], f"{before}{name}.")
            elif name:
                yield before + name


def _used(value: Mapping[str, Any], before: str = "") -> Iterator[str]:
    for key, inner in value.items():
        if isinstance(inner, Mapping):
            yield from _used(inner, f"{before}{key}.")
        elif isinstance(inner, Sequence) and inner and isinstance(inner[0], Mapping):
            for one in inner:
                yield from _used(one, f"{before}{key}.")
        elif value[key] != []:
            yield before + key
