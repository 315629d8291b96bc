"""Replay: try the candidates of a file in its order: `[{"unroll": "4"}, ...]`, as `--json` prints them."""

from __future__ import annotations

from pathlib import Path
from random import Random

from firstlight.commands.loops.engines import Score, Search, Space
from firstlight.core import reading
from firstlight.core.errors import UsageError


def of_file(path: Path) -> Search:
    try:
        points = reading.json(path.read_bytes(), list[dict[str, str]])
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except reading.MalformedError as error:
        raise UsageError(f"{path}: {error}") from error

    def search(space: Space, score: Score, random: Random) -> None:
        for point in points:
            unknown = [f"{name} {value}" for name, value in point.items() if value not in space.get(name, ())]
            if unknown:
                raise UsageError(f"{path}: this loop does not allow the change {unknown[0]}")
            score(point)

    return search
