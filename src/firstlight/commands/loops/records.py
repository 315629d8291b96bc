"""Records: store the result of each loop, as `--json` prints it, next to the tuned files; the page is made of them.

`tuned/FILE.LOOP.FAMILY.json` describes the last tuning of that loop with that compiler family, even if golden stays.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from firstlight.commands.loops import emit
from firstlight.commands.loops.tuner import TunedLoop
from firstlight.core import reading
from firstlight.core.errors import UsageError
from firstlight.results.store.durable import replace


def write(outcome: TunedLoop) -> None:
    """Write the record atomically; bytes of a name or a source that are not UTF-8 are escaped. Raises OSError."""
    path = emit.place(Path(outcome.file), outcome.loop, outcome.family).with_suffix(".json")
    path.parent.mkdir(exist_ok=True)
    plain = msgspec.structs.replace(
        outcome,
        file=_text(outcome.file),
        golden=_text(outcome.golden),
        kept=[msgspec.structs.replace(one, code=_text(one.code)) for one in outcome.kept],
        written=_text(outcome.written),
    )
    replace(path, msgspec.json.format(msgspec.json.encode(plain), indent=1) + b"\n")


def read(source: Path) -> list[TunedLoop]:
    """Read the records of all loops of a source, by line and compiler. Raises UsageError for an invalid file."""
    found = []
    for path in every(source):
        try:
            found.append(reading.json(path.read_bytes(), TunedLoop))
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror}") from error
        except reading.MalformedError as error:
            raise UsageError(f"{path}: {error}; remove this file, or tune its loop again") from error
    return sorted(found, key=lambda one: (one.line, one.family))


def every(source: Path) -> list[Path]:
    return emit.beside(source, "json")


def page(source: Path) -> Path:
    """Return the path of the page of a source."""
    return source.parent / emit.FOLDER / f"{source.stem}.html"


def _text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
