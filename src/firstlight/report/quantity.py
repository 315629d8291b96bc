"""Numbers for people: three significant digits, a unit, a prefix that keeps them between 1 and 1000."""

from __future__ import annotations

import math

_PREFIXES = ("p", "n", "u", "m", "", "k", "M", "G", "T", "P", "E")
_BASES = ("flop/s", "B/s", "bit/s", "s")
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB")


def significant(value: float, digits: int = 3) -> str:
    """`value` with `digits` significant digits, never in exponent form between 1e-4 and 1e6."""
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return str(value)
    exponent = math.floor(math.log10(abs(value)))
    rounded = round(value, digits - 1 - exponent)
    exponent = math.floor(math.log10(abs(rounded)))  # 9.996 becomes 10.0
    if not -5 < exponent < 7:
        return f"{rounded:.{digits - 1}e}"
    return f"{rounded:.{max(0, digits - 1 - exponent)}f}"


def _split(unit: str) -> tuple[str, str] | None:
    """(`prefix`, `base`) where the unit takes a prefix: Gflop/s is G, flop/s."""
    for base in _BASES:
        if unit.endswith(base) and unit[: -len(base)] in _PREFIXES:
            return unit[: -len(base)], base
    return None


def scale(value: float, unit: str) -> tuple[float, str]:
    """(`factor`, `new unit`) that brings `value` between 1 and 1000 where the unit takes a prefix."""
    parts = _split(unit)
    if parts is None or value == 0 or not math.isfinite(value):
        return 1.0, unit
    place = _PREFIXES.index(parts[0])
    wanted = place + math.floor(math.log10(abs(value)) / 3 + 1e-12)
    wanted = min(max(wanted, 0), len(_PREFIXES) - 1)
    if parts[1] == "s":
        wanted = min(wanted, _PREFIXES.index(""))  # no kiloseconds
    return 1000.0 ** (place - wanted), _PREFIXES[wanted] + parts[1]


def convert(value: float, unit: str, wanted: str) -> float | None:
    """`value` in the wanted unit, None where the two do not measure the same."""
    if unit == wanted:
        return value
    a, b = _split(unit), _split(wanted)
    if a is None or b is None or a[1] != b[1]:
        return None
    return value * 1000.0 ** (_PREFIXES.index(a[0]) - _PREFIXES.index(b[0]))


def quantity(value: float, unit: str) -> str:
    """`14.2 GB/s`"""
    factor, new = scale(value, unit)
    return f"{significant(value * factor)} {new}".rstrip()


def interval(low: float | None, high: float | None, near: float, unit: str, dash: str = " – ") -> str:
    """`14.0 – 14.3`, in the unit that `quantity(near, unit)` uses; "too few" where there is none."""
    if low is None or high is None:
        return "too few"
    factor, _ = scale(near, unit)
    return significant(low * factor) + dash + significant(high * factor)


def binary(size: float) -> str:
    """`32 MiB`: bytes with a binary prefix."""
    place = 0
    while size >= 1024 and place < len(_BINARY) - 1:
        size, place = size / 1024, place + 1
    text = f"{size:.0f}" if abs(size - round(size)) < 0.005 * size else significant(size)
    return f"{text} {_BINARY[place]}"


def ratio(value: float) -> str:
    """`1.31 ×`"""
    return f"{significant(value)} ×"


def percent(share: float) -> str:
    """`71 %`; below 10 % with one digit more."""
    return f"{100 * share:.0f} %" if share >= 0.0995 else f"{100 * share:.1f} %"


def duration(seconds: float) -> str:
    """`2 min 21 s`"""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s" if seconds >= 1 else f"{significant(seconds)} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 core`, `2 cores`"""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
