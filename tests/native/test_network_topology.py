"""Networks: every route is a path of links that exist, in the order of the axes, as short as can be, around faults."""

from __future__ import annotations

from collections import deque
from functools import cache
from itertools import pairwise, product
from math import prod
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from network_tool import Tool

pytestmark = pytest.mark.native

Route = list[tuple[int, int, int]]
"""Links: from, to, kind."""


@cache
def graph(tool: Tool, spec: str) -> dict[str, Any]:
    return tool("graph", spec)


def path(tool: Tool, spec: str, source: int, target: int, faults: str = "-") -> Route:
    """Return the route between two ranks, proved to be a path."""
    answer = tool("route", spec, faults, source, target)
    links = [(a, b, kind) for a, b, kind in answer["links"]]
    stops = [answer["from"], *(b for _, b, _ in links)]
    assert [a for a, _, _ in links] == stops[:-1]
    assert stops[-1] == answer["to"]
    assert len(set(stops)) == len(stops), "a route meets no vertex twice"
    return links


def distances(tool: Tool, spec: str, source: int) -> dict[int, int]:
    """Return the hops from a vertex to all others, by breadth-first search over the links that exist."""
    out: dict[int, list[int]] = {}
    for a, b, _ in graph(tool, spec)["links"]:
        out.setdefault(a, []).append(b)
    far, queue = {source: 0}, deque([source])
    while queue:
        at = queue.popleft()
        for to in out.get(at, ()):
            if to not in far:
                far[to] = far[at] + 1
                queue.append(to)
    return far


extents = st.lists(st.integers(1, 5), min_size=1, max_size=4)
grids = st.tuples(st.sampled_from(["torus", "mesh"]), extents).map(lambda g: f"{g[0]}:{'x'.join(map(str, g[1]))}")
cubes = st.integers(1, 5).map(lambda d: f"hypercube:{d}")
trees = st.tuples(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.sampled_from(["", "/1", "/2", "/1.5"])).map(
    lambda t: f"fattree:{'x'.join(map(str, t[0]))}{t[1]}"
)
tofus = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 2)).map(lambda e: f"tofu:{e[0]}x{e[1]}x{e[2]}")
plain = st.lists(st.integers(1, 4), min_size=1, max_size=4).map(lambda t: f"tree:{'x'.join(map(str, t))}")
minimal = st.one_of(grids, cubes, trees, plain)


@settings(max_examples=150)
@given(spec=minimal, data=st.data())
def test_routes_are_shortest_paths(tool: Tool, spec: str, data: st.DataObject) -> None:
    nodes = graph(tool, spec)["nodes"]
    source, target = data.draw(st.integers(0, nodes - 1)), data.draw(st.integers(0, nodes - 1))
    assert len(path(tool, spec, source, target)) == distances(tool, spec, source)[target]


@settings(max_examples=60)
@given(spec=st.one_of(grids, cubes), data=st.data())
def test_axes_are_walked_in_order_and_one_way(tool: Tool, spec: str, data: st.DataObject) -> None:
    nodes = graph(tool, spec)["nodes"]
    kinds = [
        k for _, _, k in path(tool, spec, data.draw(st.integers(0, nodes - 1)), data.draw(st.integers(0, nodes - 1)))
    ]
    axes = kinds if spec.startswith("hyper") else [k // 2 for k in kinds]
    assert axes == sorted(axes)
    assert len(set(kinds)) == len(set(axes)), "no axis is walked both ways"


@settings(max_examples=40)
@given(e=st.lists(st.integers(1, 6), min_size=1, max_size=3), data=st.data())
def test_routes_on_a_torus_depend_on_the_displacement_only(tool: Tool, e: list[int], data: st.DataObject) -> None:
    spec, strides = f"torus:{'x'.join(map(str, e))}", [prod(e[:i]) for i in range(len(e))]

    def node(at: list[int]) -> int:
        return sum(a % n * s for a, n, s in zip(at, e, strides, strict=True))

    away = [data.draw(st.integers(0, n - 1)) for n in e]
    shift = [data.draw(st.integers(0, n - 1)) for n in e]
    here = path(tool, spec, 0, node(away))
    there = path(tool, spec, node(shift), node([a + b for a, b in zip(away, shift, strict=True)]))
    assert [k for _, _, k in here] == [k for _, _, k in there]


@given(e=st.tuples(st.integers(1, 7), st.integers(1, 4), st.integers(1, 3)), data=st.data())
def test_dragonfly(tool: Tool, e: tuple[int, int, int], data: st.DataObject) -> None:
    spec = f"dragonfly:{'x'.join(map(str, e))}"
    nodes = graph(tool, spec)["nodes"]
    assert nodes == prod(e)
    source, target = data.draw(st.integers(0, nodes - 1)), data.draw(st.integers(0, nodes - 1))
    kinds = "".join("iolg"[k] for _, _, k in path(tool, spec, source, target))
    assert kinds in ("", "io", "ilo", "igo", "ilgo", "iglo", "ilglo")
    assert ("g" in kinds) == (source // (e[1] * e[2]) != target // (e[1] * e[2]))
    # Every pair of groups is joined by one link each way, and routers have about as many of them.
    ends = [(a, b) for a, b, k in graph(tool, spec)["links"] if k == 3]
    assert len(ends) == e[0] * (e[0] - 1)
    assert all(sum(a == r for a, _ in ends) <= -(-(e[0] - 1) // e[1]) for r in {a for a, _ in ends})


def test_a_fat_tree_has_the_links_of_its_oversubscription(tool: Tool) -> None:
    def up(spec: str) -> int:
        return sum(k == 2 for _, _, k in graph(tool, spec)["links"])

    assert (up("fattree:8x4"), up("fattree:8x4/2"), up("fattree:8x4/8")) == (32, 16, 4)
    # Messages from one leaf to all nodes of another are spread over all links upwards.
    used = {path(tool, "fattree:8x4", k, 8 + k)[1][:2] for k in range(8)}
    assert len(used) == 8


# --- Tofu


@settings(max_examples=80)
@given(spec=tofus, data=st.data())
def test_tofu_routes_are_shortest_in_the_order_x_y_z_a_c_b(tool: Tool, spec: str, data: st.DataObject) -> None:
    g = graph(tool, spec)
    source, target = data.draw(st.integers(0, g["nodes"] - 1)), data.draw(st.integers(0, g["nodes"] - 1))
    found = path(tool, spec, source, target)
    order = [[0, 1, 2, 3, 5, 4][k // 2] for _, _, k in found]
    assert order == sorted(order)
    if found:
        assert len(found) == distances(tool, spec, found[0][0])[found[-1][1]]


@pytest.mark.parametrize("e", [(2, 2, 2), (3, 1, 2), (1, 3, 1), (4, 3, 2)])
def test_tofu_ports(tool: Tool, e: tuple[int, int, int]) -> None:
    """At most ten: both ways on x, y, z and b, one each on a and c; y, a and c are open."""
    g = graph(tool, f"tofu:{'x'.join(map(str, e))}")
    assert g["nodes"] == 12 * prod(e)
    assert g["kinds"] == [f"{sign}{axis}" for axis in "xyzabc" for sign in "+-"]
    count = [sum(k == kind for _, _, k in g["links"]) for kind in range(12)]
    n = g["nodes"]
    ring = [n if e[0] > 1 else 0] * 2
    mesh = [n * (e[1] - 1) // e[1]] * 2
    assert count == [*ring, *mesh, *[n if e[2] > 1 else 0] * 2, n // 2, n // 2, n, n, n // 2, n // 2]


@pytest.mark.parametrize("e", [(1, 1, 1), (2, 3, 2), (3, 2, 1), (4, 1, 3)])
def test_the_virtual_torus_has_rings_of_single_hops_that_share_no_link(tool: Tool, e: tuple[int, int, int]) -> None:
    spec = f"tofu:{'x'.join(map(str, e))}"
    shape = (2 * e[0], 3 * e[1], 2 * e[2])
    assert tuple(graph(tool, spec)["shape"]) == shape
    seen: set[tuple[int, int, int]] = set()
    nodes: set[int] = set()
    pairs = ({0, 1, 6, 7}, {2, 3, 8, 9}, {4, 5, 10, 11})  # kinds of (x, a), (y, b), (z, c)
    for at in product(*map(range, shape)):
        rank = at[0] + shape[0] * (at[1] + shape[1] * at[2])
        for axis, way in product(range(3), (1, -1)):
            if shape[axis] == 2 and way < 0:
                continue  # the same neighbour
            to = [(c + way) % n if i == axis else c for i, (c, n) in enumerate(zip(at, shape, strict=True))]
            (hop,) = path(tool, spec, rank, to[0] + shape[0] * (to[1] + shape[1] * to[2]))
            assert hop[2] in pairs[axis]
            assert hop not in seen
            seen.add(hop)
            nodes.add(hop[0])
    assert len(nodes) == prod(shape)


def place(node: int, e: tuple[int, ...]) -> list[int]:
    at = []
    for n in e:
        at.append(node % n)
        node //= n
    return at


def twelve_ways(source: int, target: int, e: tuple[int, ...]) -> list[list[int]]:
    """Return the nodes of each of the twelve routes over a transit; no axis is of even length, so none has a tie."""
    ways = []
    for a, b, c in product(range(2), range(3), range(2)):
        at, nodes = place(source, e), [source]
        goal = place(target, e)
        legs = [(4, b), (5, c), (3, a), *((axis, goal[axis]) for axis in (0, 1, 2, 3, 5, 4))]
        for axis, to in legs:
            n = e[axis]
            while at[axis] != to:
                if axis in (0, 2, 4):
                    at[axis] = (at[axis] + (1 if (to - at[axis]) % n <= n // 2 else -1)) % n
                else:
                    at[axis] += 1 if to > at[axis] else -1
                nodes.append(sum(x * prod(e[:i]) for i, x in enumerate(at)))
        ways.append(nodes)
    return ways


@settings(max_examples=120)
@given(data=st.data())
def test_faults_are_avoided_wherever_one_of_twelve_ways_avoids_them(tool: Tool, data: st.DataObject) -> None:
    spec, e = "tofu:3x2x3", (3, 2, 3, 2, 3, 2)
    ranks = data.draw(st.permutations(range(prod(e))).map(lambda p: p[: 2 + data.draw(st.integers(0, 40))]))
    source, target, faults = ranks[0], ranks[1], ranks[2:]
    nodes = {r: tool("route", spec, "-", r, r)["from"] for r in ranks}
    bad = {nodes[r] for r in faults}
    ways = [w for w in twelve_ways(nodes[source], nodes[target], e) if not bad & set(w)]
    answer = tool("route", spec, ",".join(map(str, faults)) or "-", source, target)
    if not ways:
        assert "no way around" in answer["refused"]
        return
    stops = [answer["from"], *(b for _, b, _ in answer["links"])]
    assert not bad & set(stops)
    assert all((a, b) in {(x, y) for x, y, _ in graph(tool, spec)["links"]} for a, b in pairwise(stops))
    assert len(stops) <= max(map(len, ways))
    assert stops[-1] == nodes[target]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("torus:", "positive numbers"),
        ("torus:3x", "positive numbers"),
        ("torus:0x4", "positive numbers"),
        ("tofu:3x3", "3 to 3"),
        ("tofu:4096x4096x4096", "more than"),
        ("tofu:1024x1024x100", "more than"),
        ("hypercube:40", "27"),
        ("fattree:4x4/0", "oversubscription"),
        ("fattree:4x4/nan", "oversubscription"),
        ("ring:4", "is not a network"),
        ("dragonfly:4x4", "3 to 3"),
    ],
)
def test_what_is_no_network_is_refused(tool: Tool, spec: str, message: str) -> None:
    assert message in tool("graph", spec)["refused"]
