"""Reading: JSON and TOML that others wrote. Every defect raises the same error, with a reason in one line."""

from __future__ import annotations

import json as python_json
import os
import stat
import tomllib
from pathlib import Path
from typing import TypeVar

import msgspec

T = TypeVar("T")


class MalformedError(ValueError):
    """Content that does not have the expected form; the text is the reason."""


def plain(path: Path, most: int) -> bytes:
    """Return the content of a plain file of at most `most` bytes. Raises MalformedError and OSError.

    Never wait for a pipe, and never read more of a larger file.
    """
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise MalformedError("is not a regular file")
        data = file.read(most + 1)
    if len(data) > most:
        raise MalformedError(f"is larger than {most >> 10} KiB")
    return data


def json(data: bytes, kind: type[T]) -> T:
    """Decode one JSON document of that type. Raises MalformedError, also for a repeated key.

    Some readers use the first of two equal keys and others the last: such a document has two meanings.
    """
    found = decoded(data, msgspec.json.Decoder(kind))
    if repeated := twice(data):
        raise MalformedError(f"the key {repeated!r} occurs twice")
    return found


def decoded(data: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """Decode one JSON document with an existing decoder; accept repeated keys. Raises MalformedError."""
    try:
        return decoder.decode(data)
    except RecursionError:
        raise MalformedError("is nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise MalformedError(_line(error)) from error


def twice(data: bytes) -> str:
    """Return a key that occurs twice in one object of a JSON document, shortened; "" if there is none.

    Raises MalformedError.
    """
    repeated: list[str] = []

    def note(pairs: list[tuple[str, object]]) -> None:
        if len(pairs) != len(dict(pairs)):
            names = [name for name, _ in pairs]
            repeated.append(next(name for name in names if names.count(name) > 1)[:60])

    try:  # values that are not requested are skipped by msgspec, and not looked into
        python_json.loads(data.decode(), object_pairs_hook=note, parse_int=len, parse_float=len)
    except RecursionError:
        raise MalformedError("is nested too deeply") from None
    except ValueError as error:
        raise MalformedError(_line(error)) from error
    return repeated[0] if repeated else ""


def toml(data: bytes, kind: type[T]) -> T:
    """Decode a TOML document of that type. Raises MalformedError."""
    try:
        return msgspec.convert(tomllib.loads(data.decode()), kind)
    except RecursionError:
        raise MalformedError("is nested too deeply") from None
    except (ValueError, OverflowError, msgspec.MsgspecError) as error:  # tomllib's own and Unicode's are ValueErrors
        raise MalformedError(_line(error)) from error


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
