"""The site file as text: its place, the line of each entry, and which lines are wrong."""

from __future__ import annotations

import difflib
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

from firstlight import INSTALLED, ROOT
from firstlight.core import reading
from firstlight.core.errors import UsageError
from firstlight.system.site.entries import Site, check

NAME = "firstlight-site.toml"
MOST = 1 << 16  # bytes

Lines = dict[tuple[str, ...], int]
"""The line in which each entry begins, by its keys."""


class Fault(msgspec.Struct, frozen=True):
    """A fault, and its line (0: the whole file)."""

    line: int
    text: str

    def format(self, path: Path) -> str:
        return f"{path}:{self.line}: {self.text}" if self.line else f"{path}: {self.text}"


class Read(msgspec.Struct, frozen=True):
    """A file and its content; `site` is empty where there are faults."""

    path: Path | None
    site: Site
    faults: tuple[Fault, ...]
    lines: Lines


def find(environment: Mapping[str, str], etc: Path = Path("/etc/firstlight.toml")) -> Path | None:
    """Return the file that FIRSTLIGHT_SITE names, else the machine's, else the one next to the checkout, else None.

    An installed package has its Python environment instead of a checkout. Raises UsageError if the named file does not
    exist.
    """
    named = environment.get("FIRSTLIGHT_SITE")
    if named is not None:
        if named and not Path(named).exists():
            raise UsageError(f"FIRSTLIGHT_SITE or --site-file: the file {named} does not exist")
        return Path(named).absolute() if named else None
    own = (Path(sys.prefix) if INSTALLED else ROOT).with_name(NAME)
    return next((path for path in (etc, own) if path.is_file() and trusted(path)), None)


def trusted(path: Path) -> bool:
    """Return whether root, this user or firstlight's owner owns it: its lines are run, and anyone may write to /tmp."""
    owners = {path.stat().st_uid, path.lstat().st_uid}  # another user's link may lead to a file of this user
    return owners <= {0, os.geteuid(), ROOT.stat().st_uid}


def read(path: Path) -> Read:
    """Read the file and return it with all that is wrong with it."""
    try:
        text = reading.plain(path, MOST).decode().replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError, reading.MalformedError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        why = "is not UTF-8" if isinstance(error, UnicodeDecodeError) else why
        return Read(path, Site(), (Fault(0, str(why)),), {})
    lines = places(text)
    try:
        tree = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        return Read(path, Site(), (_syntax(str(error), text),), lines)
    faults = tuple(
        sorted(
            (Fault(_line(where, lines), what) for where, what in _wrong(tree, Site, (), tree)),
            key=lambda fault: fault.line,
        )
    )
    return Read(path, Site() if faults else msgspec.convert(tree, Site), faults, lines)


def places(text: str) -> Lines:
    """Return the line in which each entry begins. A statement ends where TOML accepts all lines so far as a text."""
    lines, begun, found = text.split("\n"), 0, Lines()
    for end in range(1, len(lines) + 1):
        try:
            tree = tomllib.loads("\n".join(lines[:end]))
        except (ValueError, RecursionError):
            continue
        own = [n for n in range(begun, end) if lines[n].strip() and not lines[n].lstrip().startswith("#")]
        for keys in _keys(tree, ()):
            found.setdefault(keys, (own[0] if own else begun) + 1)
        begun = end
    return found


def _keys(tree: dict[str, Any], above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for key, value in tree.items():
        yield (*above, key)
        if isinstance(value, dict):
            yield from _keys(value, (*above, key))


def _line(where: tuple[str, ...], lines: Lines) -> int:
    return next((lines[where[:k]] for k in range(len(where), 0, -1) if where[:k] in lines), 0)


def _syntax(message: str, text: str) -> Fault:
    place = re.search(r"\s*\((?:at line ([0-9]+), column ([0-9]+)|at end of document)\)", message)
    if place is None:
        return Fault(0, f"not valid TOML: {message}")
    column = f" in column {place[2]}" if place[2] else ""
    line = int(place[1]) if place[1] else len(text.rstrip("\n").split("\n"))
    return Fault(line, f"not valid TOML: {message[: place.start()]}{column}")


def _wrong(
    tree: dict[str, Any], kind: type[Any], above: tuple[str, ...], whole: dict[str, Any]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield (keys, what is wrong) for every entry that does not match the fields of `kind`."""
    fields = get_type_hints(kind)
    for key, value in tree.items():
        where = (*above, key)
        if key not in fields:
            yield where, _unknown(key, above, list(fields))
        elif get_origin(fields[key]) is dict:
            yield from _tables(value, get_args(fields[key])[1], where, whole)
        elif isinstance(fields[key], type) and issubclass(fields[key], msgspec.Struct):
            yield from _table(value, fields[key], where, whole)
        else:
            yield from _entry(value, fields[key], where, whole)


def _entry(
    value: Any, kind: Any, where: tuple[str, ...], whole: dict[str, Any]
) -> Iterator[tuple[tuple[str, ...], str]]:
    if reason := _mistyped(value, kind):
        yield where, f"{'.'.join(where)} {reason}"
    elif reason := check(where, value, whole):
        yield where, reason


def _table(
    value: Any, kind: type[Any], where: tuple[str, ...], whole: dict[str, Any]
) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict):
        yield from _wrong(value, kind, where, whole)
    else:
        yield where, f"{'.'.join(where)} is a table: write [{'.'.join(where)}], followed by its entries"


def _tables(
    value: Any, kind: type[Any], where: tuple[str, ...], whole: dict[str, Any]
) -> Iterator[tuple[tuple[str, ...], str]]:
    of_tables = issubclass(kind, msgspec.Struct)
    if not isinstance(value, dict):
        name = f"{where[-1]}.NAME" if of_tables else where[-1]
        yield where, f"{where[-1]} is a table: write [{name}], followed by its entries"
        return
    for name, inside in value.items():
        yield from (_table if of_tables else _entry)(inside, kind, (*where, name), whole)


def _unknown(key: str, above: tuple[str, ...], known: list[str]) -> str:
    near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
    return f"no entry is called {key!r}{f' in [{chr(46).join(above)}]' if above else ''}; {hint}"


_SAID = {str: "a string in quotes", int: "a whole number", tuple: 'a list of strings, such as ["a", "b"]'}


def _mistyped(value: Any, kind: Any) -> str:
    """Return what the value should be, "" if it is of that type."""
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        words = [word for word in get_args(kind) if isinstance(word, str) and word]
        wanted = " or ".join(f'"{word}"' for word in words) if words else _SAID[get_origin(kind) or kind]
        return f"is {wanted}, not {value!r}"
    return ""
