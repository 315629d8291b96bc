"""The memory of proved things: one file in the cache directory that can be deleted at any time."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path
from typing import TypeVar

import msgspec

from firstlight.core import reading

VERSION = 1
"""The number to increase when a trial changes, so that old results are not used."""

MOST = 4000
"""Maximum number of entries; if there are more, those not used this time are dropped."""

T = TypeVar("T")


class Memory:
    """Results of trials by key, read once and written once by `save`; a damaged file counts as empty."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._used: dict[str, msgspec.Raw] = {}
        self._old: dict[str, msgspec.Raw] = {}
        with contextlib.suppress(OSError, reading.MalformedError):
            version, entries = reading.json(path.read_bytes(), tuple[int, dict[str, msgspec.Raw]])
            self._old = entries if version == VERSION else {}
        self._changed = False

    def recall(self, key: str, kind: type[T]) -> T | None:
        """Return the remembered result, or None if there is none of that type."""
        with self._lock:
            raw = self._used.get(key) or self._old.get(key)
            if raw is None:
                return None
            self._used[key] = raw
        try:
            return reading.json(bytes(raw), kind)
        except reading.MalformedError:
            return None

    def keep(self, key: str, answer: object) -> None:
        with self._lock:
            self._used[key] = msgspec.Raw(msgspec.json.encode(answer))
            self._changed = True

    def save(self) -> None:
        """Write atomically; of two simultaneous writers the last one wins, and the other repeats a trial later."""
        if not self._changed:
            return
        kept = {**self._old, **self._used}
        if len(kept) > MOST:
            kept = self._used
        draft = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        draft.write_bytes(msgspec.json.encode((VERSION, kept)))
        draft.replace(self._path)
