"""Units: sizes, times, rates and counts in readable form, with three significant digits and the unit.

A size has binary prefixes (24 KiB), a rate or a time decimal ones (14.2 GB/s, 310 ns).
"""

from __future__ import annotations

import math
import re

from firstlight.core.errors import UsageError

MOST_BYTES = 1 << 50
MOST_SIZES = 64
MOST_SECONDS = 1e7

_PREFIXES = ("p", "n", "u", "m", "", "k", "M", "G", "T", "P", "E")
_BASES = ("flop/s/W", "B/s/W", "flop/s", "B/s", "bit/s", "Hz", "W", "J", "s")
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
_BYTES = {
    "": 1, "b": 1, "k": 1 << 10, "kib": 1 << 10, "m": 1 << 20, "mib": 1 << 20, "g": 1 << 30, "gib": 1 << 30,
    "t": 1 << 40, "tib": 1 << 40, "pib": 1 << 50, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
}  # fmt: skip
_SECONDS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)")
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([^\s\d.]\S*)")
_SHARE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(%?)")
_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(min|[smh]?)\s*")


def significant(value: float, digits: int = 3) -> str:
    """Return `digits` significant digits, without an exponent between 1e-3 and 1e6: 0.312, 14.2, 1770, 2.5e-10, 1e7."""
    value = _float(value)
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    exponent = math.floor(math.log10(abs(float(f"{value:.{digits - 1}e}"))))  # 9.996 becomes 10.0
    if -4 < exponent < 6:
        return (
            f"{value:.{max(0, digits - 1 - exponent)}f}"
            if exponent < digits
            else f"{round(value, digits - 1 - exponent):.0f}"
        )
    mantissa, power = f"{value:.{digits - 1}e}".split("e")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}e{int(power)}"


def _float(value: float) -> float:
    """Return a float; an integer in a foreign record that is beyond its range becomes infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _split(unit: str) -> tuple[str, str] | None:
    """Return (`prefix`, `base`) of a unit that can have a prefix, else None: Gflop/s is G, flop/s."""
    for base in _BASES:
        if unit.endswith(base) and unit[: -len(base)] in _PREFIXES:
            return unit[: -len(base)], base
    return None


def scale(value: float, unit: str) -> tuple[float, str]:
    """Return (`factor`, `new unit`) that bring `value` between 1 and 1000 if the unit can have a prefix."""
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
    """Return `value` in the wanted unit, or None if the two units have different dimensions."""
    if unit == wanted:
        return value
    a, b = _split(unit), _split(wanted)
    if a is None or b is None or a[1] != b[1]:
        return None
    return value * 1000.0 ** (_PREFIXES.index(a[0]) - _PREFIXES.index(b[0]))


def parts(value: float, unit: str) -> tuple[str, str]:
    """Return (`14.2`, `GB/s`); the unit of a number without a dimension, which is 1, becomes ""."""
    by, new = scale(value, unit)
    return significant(value * by), "" if new == "1" else new


def quantity(value: float, unit: str) -> str:
    """Return `14.2 GB/s`; a number without a dimension has no unit."""
    return " ".join(parts(value, unit)).rstrip()


def either(lower: float, upper: float, unit: str) -> str:
    """Return `154 or 471 ns`, or `980 ns or 1.2 us` if the units differ."""
    number, small = parts(lower, unit)
    same = small == parts(upper, unit)[1]
    return f"{number if same else quantity(lower, unit)} or {quantity(upper, unit)}"


def interval(low: float | None, high: float | None, near: float, unit: str, dash: str = " – ") -> str:
    """Return `14.0 – 14.3`, in the unit that `quantity(near, unit)` uses; "too few" if there is none."""
    if low is None or high is None:
        return "too few"
    by, _ = scale(near, unit)
    return significant(low * by) + dash + significant(high * by)


def binary(n_bytes: float, digits: int = 3) -> str:
    """Return a number of bytes as 8 B, 32 KiB, 1 MiB or 1.53 GiB."""
    return " ".join(binary_parts(n_bytes, digits))


def binary_parts(n_bytes: float, digits: int = 3) -> tuple[str, str]:
    """Return (`32`, `KiB`) for a number of bytes."""
    n_bytes = _float(n_bytes)
    if not math.isfinite(n_bytes):
        return str(n_bytes), "B"
    place = 0
    while n_bytes >= 1024 and place < len(_BINARY) - 1:
        n_bytes, place = n_bytes / 1024, place + 1
    return str(int(n_bytes)) if n_bytes == int(n_bytes) else significant(n_bytes, digits), _BINARY[place]


def factor(value: float) -> str:
    """Return a ratio with two digits ("1.6", "12", "240"), below 1.1 with three: "1.0" would hide the difference."""
    return significant(value, 2 if value >= 1.1 else 3)


def ratio(value: float) -> str:
    """Return `1.31 ×`."""
    return f"{significant(value)} ×"


def percent(share: float) -> str:
    """Return `71 %`; below 10 % with one digit more."""
    return f"{100 * share:.0f} %" if share >= 0.0995 else f"{100 * share:.1f} %"


def declared(share: float) -> str:
    """Return `5 %`: a share that someone declared, without decimals that it does not have."""
    return f"{100 * share:.4g} %"


def duration(seconds: float) -> str:
    """Return `2 min 21 s`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s" if seconds >= 0.9995 or seconds <= 0 else f"{significant(seconds)} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min"


def minutes(seconds: float) -> str:
    """Return `3m`: whole minutes, more than `seconds`, in the form that `parse_duration` reads."""
    return f"{int(seconds) // 60 + 1}m"


def count(number: int, noun: str, plural: str = "") -> str:
    """Return `1 core` or `2 cores`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def parse_size(text: str) -> int:
    """Return the bytes in `24`, `24KiB`, `1.5 MiB`, `64k` (binary), `1MB` (decimal), rounded. Raises UsageError."""
    match = _SIZE.fullmatch(text.strip().lower())
    if match is None or match[2] not in _BYTES:
        raise UsageError(f"{text!r} is not a size; write a value such as 4096, 24KiB or 1MiB")
    unit = _BYTES[match[2]]
    value = float(match[1]) * unit
    if not 0 <= value <= MOST_BYTES or (unit == 1 and value != int(value)):
        raise UsageError(f"{text!r}: sizes are whole numbers of bytes up to {binary(MOST_BYTES)}")
    return round(value)


def parse_quantity(text: str) -> tuple[float, str]:
    """Return (180.0, `GB/s`) for `180 GB/s`. Raises UsageError for a text that is not a positive number and a unit."""
    match = _QUANTITY.fullmatch(text.strip())
    if match is None or not 0 < float(match[1]) < math.inf:
        raise UsageError(f"{text!r} is not a number with a unit; write a value such as 180 GB/s")
    return float(match[1]), match[2]


def parse_in(text: str, unit: str) -> float:
    """Return 1.8e11 for `180 GB/s` in B/s. Raises UsageError for a text that is not a quantity of that dimension."""
    value, given = parse_quantity(text)
    found = convert(value, given, unit)
    if found is None:
        raise UsageError(f"{text!r} is not in {unit}; write a value such as 180 G{unit}")
    return found


def parse_share(text: str, zero: bool = False) -> float:
    """Return 0.02 for `2%` or `0.02`. Raises UsageError unless it is above 0, or 0 with `zero`, and below 1."""
    match = _SHARE.fullmatch(text.strip())
    share = -1.0 if match is None else float(match[1]) / (100 if match[2] else 1)
    if not (0 <= share < 1 and (zero or share)):
        raise UsageError(f"{text!r} is not a share; write a value such as 2% or 0.02")
    return share


def parse_sizes(text: str) -> list[int]:
    """Return ascending sizes in `8,1KiB..16MiB`: a range doubles from its first to its last. Raises UsageError."""
    found: set[int] = set()
    for word in text.split(","):
        first, dots, last = word.partition("..")
        low = parse_size(first)
        high = parse_size(last) if dots else low
        if dots and not 0 < low <= high:
            raise UsageError(f"{word!r} is not a range of sizes; write the smaller size first, as in 1KiB..16MiB")
        while low < high:
            found.add(low)
            low *= 2
        found.add(high)
    if len(found) > MOST_SIZES:
        raise UsageError(f"{len(found)} sizes exceed the limit of {MOST_SIZES}; specify fewer sizes")
    return sorted(found)


def parse_duration(text: str, what: str = "time") -> float:
    """Return the seconds in `110`, `150s`, `10m`, `2h`, `1h30m` or `2 min 21 s`; errors call it `what`.

    Raises UsageError for anything else, for zero and for more than 115 days.
    """
    whole = text.strip().lower()
    parts = [m.groups() for m in _SPAN.finditer(whole)]
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    complete = "".join(m[0] for m in _SPAN.finditer(whole)) == whole
    plain = len(parts) == 1 or all(unit for _, unit in parts)
    if not (complete and plain and 0 < seconds < MOST_SECONDS):
        raise UsageError(f"{text!r} is not a {what}; write a value such as 150s, 10m or 2h")
    return seconds
