"""A launch in flight: a hidden file that stays open while a program appends to it by its path, and is then sealed.

The program, and any other process of this user, may replace its record. Only the file that was made for it is sealed.
If that is no longer there, the launch is lost, and its exit line has the reason.
"""

from __future__ import annotations

import errno
import stat

import msgspec

from firstlight.core.errors import RecordError
from firstlight.execute.launch import Outcome
from firstlight.results.record import Exit, Start
from firstlight.results.store import disk, layout, lines
from firstlight.results.store.disk import File, Folder


class Flight:
    """A launch in flight, made by `begin`, ended by `seal` or `drop`."""

    def __init__(self, folder: Folder, part: str, name: str, first: bytes, file: File) -> None:
        self.part = part
        self._folder, self._name, self._first, self._file = folder, name, first, file
        self._mode = file.status().st_mode

    def seal(self, outcome: Outcome) -> Exit:
        """Seal the record and rename it to its final name, durably; return the exit line as written.

        Bytes that are not whole, valid lines of the program are cut off, and then the launch is not ok. Raises OSError
        if it cannot be written; the launch is lost then, and its file is removed to free the space.
        """
        try:
            with self._file:
                return self._seal(outcome)
        except BaseException:
            self._folder.try_to_remove(self.part)
            self._folder.try_to_remove(self._name)
            raise

    def close(self) -> None:
        """Close its file and leave it as it is."""
        self._file.close()

    def drop(self) -> None:
        """Remove its file, as if it had not begun. Raises OSError."""
        self.close()
        self._folder.remove(self.part)

    def _seal(self, outcome: Outcome) -> Exit:
        found, gone = self._look()
        if gone:
            self._folder.remove(self.part)
        with found or self._folder.create(self.part) as file:
            limit = layout.MAX_LAUNCH_BYTES - layout.EXIT_ROOM
            data = (found or self._file).read(limit + 1)
            kept, flaw = self._sound(data, limit)
            if gone or not data.startswith(kept):
                file.cut(0)
                file.append(kept)
            elif len(kept) < len(data):
                file.cut(len(kept))
            reason = "; ".join(filter(None, (outcome.reason, gone, flaw)))
            ending = Exit(
                not reason, outcome.status, reason, outcome.seconds, outcome.load, outcome.stderr, "", outcome.left,
                outcome.power,
            )  # fmt: skip
            line = lines.seal(kept, ending)
            file.append(line)
            if file.status().st_mode != self._mode:
                file.permit(self._mode)
            file.sync()
            self._folder.rename(self.part, self._name)
            there = self._folder.status(self._name)
            if there is None or not disk.same(there, file.status()):
                raise OSError(errno.ESTALE, f"{self._name} was replaced during sealing")
            self._folder.sync()
            return msgspec.json.decode(line, type=Exit)

    def _look(self) -> tuple[File | None, str]:
        """Return the record, opened again to see what another node wrote, or why it is not there."""
        there = self._folder.status(self.part)
        if there is None:
            return None, "the record was removed during the launch"
        if disk.same(there, self._file.status()):
            try:
                found = self._folder.open(self.part, append=True)
            except PermissionError:  # the program took it away, not from who holds it open
                return self._file, ""
            if disk.same(found.status(), self._file.status()):
                return found, ""
            found.close()
        other = "another file" if stat.S_ISREG(there.st_mode) else "something else"
        return None, f"the record was replaced by {other} during the launch"

    def _sound(self, data: bytes, limit: int) -> tuple[bytes, str]:
        """Return the part of the record that can be kept, and why not all of it."""
        if not data.startswith(self._first):
            return self._first, "the beginning of the record was altered"
        good, why = lines.sound(data[:limit])
        return data[:good], f"the record is larger than {limit >> 20} MiB" if len(data) > limit else why


def begin(folder: Folder, start: Start) -> Flight:
    """Begin a new launch. Raises RecordError if it is there already, OSError."""
    part, name = layout.part_name(start.cell, start.launch), layout.launch_name(start.cell, start.launch)
    if folder.status(name) is not None:
        raise RecordError(f"{folder.path.parent}: launch {start.launch} of {start.cell} already exists")
    folder.remove(part)
    file, first = folder.create(part), lines.encode(start)
    try:
        file.append(first)
        return Flight(folder, part, name, first, file)
    except BaseException:
        file.close()
        folder.try_to_remove(part)
        raise
