"""Targets of storage: directories of different file systems in which programs write and read files.

The defaults are the results folder, $TMPDIR, /dev/shm, $HOME, $SCRATCH and $WORK, one per file system. A user adds
others with `--storage NAME=DIR`, a site with `[storage]`. Records contain the name of a target, never its path.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from firstlight.core.errors import UsageError
from firstlight.system.machine import SHARED, Storage
from firstlight.system.machine.files import read
from firstlight.system.process import bounded

NAME = re.compile(r"[a-z][a-z0-9_]{0,31}")
DEFAULTS = {"tmpdir": "TMPDIR", "home": "HOME", "scratch": "SCRATCH", "work": "WORK"}
"""The variables that name directories, by the name of the target."""
RESULTS, MEMORY = "results", "shm"
STRIPE_SECONDS = 5.0
_OPTIONS = re.compile(r"[\w.,:/@%+-]*(?:=[\w.:%+-]*)?")
_ESCAPED = re.compile(r"\\([0-7]{3})")
_LONGEST = 300  # characters of options, and of a stripe


class Mount(NamedTuple):
    """One line of /proc/self/mountinfo."""

    device: str  # major:minor
    point: str
    type: str
    options: str


def parse(words: Sequence[str]) -> dict[str, Path]:
    """Return the targets of `--storage NAME=DIR`. Raises UsageError for a word that is not one."""
    found: dict[str, Path] = {}
    for word in words:
        name, equals, folder = word.partition("=")
        if not equals or not NAME.fullmatch(name):
            raise UsageError(f"--storage {word}: write NAME=DIR, with a name of lower-case letters")
        found[name] = check(name, Path(folder))
    return found


def check(name: str, folder: Path) -> Path:
    """Return the absolute path of a target. Raises UsageError unless it is a directory that this user may write."""
    if not folder.is_dir():
        raise UsageError(f"storage target {name}: {folder} is not a directory")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise UsageError(f"storage target {name}: {folder} cannot be written")
    return folder.absolute()


def locate(results: Path, given: Mapping[str, Path], environment: Mapping[str, str] = os.environ) -> dict[str, Path]:
    """Return the directories by target: those in `given`, then the defaults, one per file system."""
    found, devices = dict(given), set[int]()
    for folder in found.values():
        with contextlib.suppress(OSError):
            devices.add(folder.stat().st_dev)
    absolute = results.absolute()
    there = next(place for place in (absolute, *absolute.parents) if place.is_dir())
    candidates = {RESULTS: str(there)} | {name: environment.get(v, "") for name, v in DEFAULTS.items()}
    candidates["tmpdir"] = candidates["tmpdir"] or "/tmp"
    for name, text in (candidates | {MEMORY: str(SHARED)}).items():
        folder = Path(text)
        with contextlib.suppress(OSError):
            usable = text.startswith("/") and folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
            if usable and name not in found and folder.stat().st_dev not in devices:
                devices.add(folder.stat().st_dev)
                found[name] = folder
    return found


def describe(places: Mapping[str, Path], root: Path = Path("/")) -> tuple[Storage, ...]:
    """Return what the system reports on each target; one that vanished is left out."""
    mounts, found = _mounts(root), []
    for name, folder in places.items():
        with contextlib.suppress(OSError):
            space, number = os.statvfs(folder), folder.stat().st_dev
            mount = _mount(mounts, folder)
            device, rotates = _block_device(root, f"{os.major(number)}:{os.minor(number)}")
            found.append(
                Storage(
                    name,
                    type=mount.type if mount else "",
                    options=mount.options if mount else "",
                    device=device,
                    rotates=rotates,
                    stripe=_stripe(folder) if mount and mount.type == "lustre" else "",
                    free=space.f_bavail * space.f_frsize,
                    files=space.f_favail if space.f_files else None,
                )
            )
    return tuple(found)


def new_folder(place: Path) -> Path:
    """Return the path of a working folder for one launch; no other launch has it, and the launch makes it."""
    return place / f".fl-{secrets.token_hex(8)}"


def _mounts(root: Path) -> list[Mount]:
    """Return the mounts of this process. Options with a path or a host (of overlays, of NFS) are left out."""
    found = []
    for line in (read(root / "proc/self/mountinfo") or "").splitlines():
        before, _, after = line.partition(" - ")
        first, last = before.split(), after.split()
        if len(first) < 6 or len(last) < 3:
            continue
        point = _ESCAPED.sub(lambda match: chr(int(match[1], 8)), first[4])
        words = dict.fromkeys((*first[5].split(","), *last[2].split(",")))
        private = ("addr=", "clientaddr=", "mountaddr=", "fsname=", "username=", "domain=")
        kept = [w for w in words if "/" not in w and not w.startswith(private) and _OPTIONS.fullmatch(w)]
        found.append(Mount(first[2], point, last[0], ",".join(kept)[:_LONGEST]))
    return found


def _mount(mounts: Sequence[Mount], folder: Path) -> Mount | None:
    """Return the mount of the folder: the longest mount point above it, the last one if several are equal."""
    real = folder.resolve()
    above = [m for m in mounts if real.is_relative_to(m.point)]
    longest = max((len(m.point) for m in above), default=0)
    return next((m for m in reversed(above) if len(m.point) == longest), None)


def _block_device(root: Path, number: str) -> tuple[str, bool | None]:
    """Return the name of a block device and whether it rotates; ("", None) for a file system without a device."""
    place = root / "sys/dev/block" / number
    if not place.exists():
        return "", None
    device = place.resolve()
    answer = next((a for f in (device, device.parent) if (a := read(f / "queue/rotational"))), "").strip()
    return device.name, {"0": False, "1": True}.get(answer)


def _stripe(folder: Path) -> str:
    """Return count and size of the stripes of a folder of Lustre, as `lfs getstripe` prints them."""
    lfs = shutil.which("lfs")
    if lfs is None:
        return ""
    try:
        answer = bounded.run([lfs, "getstripe", "-d", "-c", "-S", str(folder)], timeout=STRIPE_SECONDS).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    words = " ".join(answer.replace(str(folder), "").split())
    return "".join(c for c in words if c.isprintable())[:_LONGEST]
