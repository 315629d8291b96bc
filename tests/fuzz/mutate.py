"""Change JSON so that it stays JSON: with random bytes, few inputs would pass the decoder."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

ODD: tuple[object, ...] = (
    None, True, False, 0, 1, -1, 2, 7, 64, 255, 4096, 65536, 1 << 31, (1 << 53) + 1, 1 << 63, 1 << 64, 10**30,
    -(1 << 63), 0.0, -0.0, 0.5, 1e-300, 1e300, -1e300, 1.7976931348623157e308, "", " ", "0", "n", "a\nb", "../..",
    "-", "--", "=1+1", "\x1b[31m", "\u202e", "é", "\U0001f600", "x" * 300, "*", "all", "1x1x1",
    [], {}, [[]], [0], [None], {"": 0}, {"a": {}},
)  # fmt: skip
"""Values that one does not think of."""
MOST = 1 << 20
"""Bytes of a changed document."""


def document(data: bytes, rng: random.Random) -> bytes:
    """Return one JSON document, changed in one to four places; bytes that are not JSON are returned unchanged."""
    try:
        tree = [json.loads(data)]
    except (ValueError, RecursionError):
        return data
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        _change(tree, rng)
    return json.dumps(tree[0]).encode()[:MOST]


def lines(data: bytes, rng: random.Random) -> bytes:
    """Change, drop, double or move one line of JSON lines."""
    every = data.split(b"\n")[:-1] or [b"{}"]
    at = rng.randrange(len(every))
    match rng.randrange(6):
        case 0:
            del every[at]
        case 1:
            every.insert(rng.randrange(len(every) + 1), every[at])
        case 2:
            every.insert(rng.randrange(len(every)), every.pop(at))
        case _:
            every[at] = document(every[at], rng)
    return b"".join(line + b"\n" for line in every)[:MOST]


def _change(tree: list[Any], rng: random.Random) -> None:
    """Change one place below `tree`, which a random walk downwards selects."""
    place: Any = tree
    while True:
        key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
        inside = place[key]
        if not (isinstance(inside, dict | list) and inside and rng.random() < 0.9):
            break
        place = inside
    _CHANGES[rng.randrange(len(_CHANGES))](place, key, tree, rng)


def _replace(place: Any, key: Any, _: list[Any], rng: random.Random) -> None:
    place[key] = copy.deepcopy(rng.choice(ODD))


def _nudge(place: Any, key: Any, _: list[Any], rng: random.Random) -> None:
    """Another value of the same type, which passes the decoder."""
    old = place[key]
    if isinstance(old, bool):
        place[key] = not old
    elif isinstance(old, int):
        place[key] = rng.choice((old + 1, old - 1, -old, 0, old * 1000, 1 << 62, old // 2))
    elif isinstance(old, float):
        place[key] = rng.choice((old * 2, -old, 0.0, 1e300, 1e-300, old + 1, 1e17))
    elif isinstance(old, str):
        cut = rng.randrange(len(old) + 1)
        place[key] = rng.choice(
            (old[:cut], old + old, old[:cut] + rng.choice("\n\x00é.,=-/ ") + old[cut:], old.upper())
        )
    else:
        _replace(place, key, _, rng)


def _drop(place: Any, key: Any, tree: list[Any], _: random.Random) -> None:
    if place is not tree:
        del place[key]


def _repeat(place: Any, key: Any, tree: list[Any], rng: random.Random) -> None:
    if isinstance(place, list) and place is not tree:
        place[key:key] = [copy.deepcopy(place[key])] * rng.choice((1, 1, 2, 30))
    elif isinstance(place, dict):
        place[f"{key}{rng.choice(('', '2', '.x'))}"] = copy.deepcopy(place[key])


def _graft(place: Any, key: Any, tree: list[Any], rng: random.Random) -> None:
    """Return a value from another place of the document."""
    other: Any = tree
    while isinstance(other, dict | list) and other and rng.random() < 0.8:
        other = rng.choice(list(other.values()) if isinstance(other, dict) else other)
    place[key] = copy.deepcopy(other) if other is not tree else None


_CHANGES: tuple[Callable[[Any, Any, list[Any], random.Random], None], ...] = (
    _replace, _nudge, _nudge, _nudge, _drop, _repeat, _graft,
)  # fmt: skip
