"""Packages: what firstlight requires, its own command, and the source of pip's wheels: an index, a folder, or none."""

from __future__ import annotations

import platform
import sys
import tomllib
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path

from firstlight import INSTALLED, ROOT
from firstlight.core.errors import FirstlightError, UsageError
from firstlight.system.process import bounded

OFFLINE, WHEELHOUSE = "FIRSTLIGHT_OFFLINE", "FIRSTLIGHT_WHEELHOUSE"
"""If the first is set, only wheels of a folder are installed; `./fl setup` sets the second to that folder."""
STAMP = "offline"
"""A file in the cache: the cache was set up offline, and stays as it is."""
MADE_FOR = "made-for.txt"
PYTHONS = tuple(f"3.{minor}" for minor in range(11, 15))
"""The versions of Python that a wheelhouse serves, if there are wheels for them."""
COMMON = ("--quiet", "--disable-pip-version-check", "--no-input", "--only-binary=:all:")


def offline(cache: Path, environment: Mapping[str, str]) -> bool:
    return bool(environment.get(OFFLINE)) or (cache / STAMP).exists()


def source(cache: Path, environment: Mapping[str, str]) -> list[str] | None:
    """Return pip's options for the source of packages; None if nothing may be installed."""
    wheels = environment.get(WHEELHOUSE)
    links = [f"--find-links={wheels}"] if wheels else []
    if not offline(cache, environment):
        return links
    return ["--no-index", *links] if wheels else None


def keep(cache: Path, is_offline: bool) -> None:
    """Remember how this cache was set up. Raises OSError."""
    if is_offline:
        (cache / STAMP).write_text("set up by ./fl setup --offline; ./fl setup without --offline uses an index again\n")
    else:
        (cache / STAMP).unlink(missing_ok=True)


def command() -> Path | None:
    """Return the absolute path of the command: `fl` of the checkout, else the installed one, None if there is none."""
    if not INSTALLED:
        return ROOT / "fl"
    files = metadata.distribution("firstlight").files or ()
    scripts = (Path(str(file.locate())).resolve() for file in files if file.name == "firstlight")
    return next((path for path in scripts if path.is_file()), None)


def _required() -> list[str]:
    """Return the requirements of firstlight without its extras."""
    if not INSTALLED:
        return list(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"])
    return [line for line in metadata.requires("firstlight") or () if "extra ==" not in line]


def collect(folder: Path, more: Sequence[str]) -> list[str]:
    """Fill a folder with the wheels of all that firstlight depends on and of `more`; return their names.

    The wheels serve this version of Python, and every other of `PYTHONS` for which there are wheels. Raises UsageError
    if the folder cannot be written, FirstlightError with pip's message if a wheel for this version is not available.
    """
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _download(folder, [*_required(), *more])
        others = [v for v in PYTHONS if v != here and _serves(folder, v)]
        versions = ", ".join(sorted([here, *others], key=lambda version: int(version.partition(".")[2])))
        system = " ".join(part for part in platform.libc_ver() if part)
        (folder / MADE_FOR).write_text(f"made for Python {versions}, {platform.machine()}, {system}\n")
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror}") from error
    return sorted(path.name for path in folder.glob("*.whl"))


def _serves(folder: Path, version: str) -> bool:
    """Add the wheels for another version of Python; return whether there are all that firstlight depends on."""
    try:
        _download(folder, [f"--python-version={version}", *_required()])
    except FirstlightError:
        return False
    return True


def _download(folder: Path, words: Sequence[str]) -> None:
    command = [sys.executable, "-I", "-m", "pip", "download", *COMMON, f"--dest={folder}", *words]
    done = bounded.run(command, timeout=None, merge=True)
    if done.returncode != 0:
        lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
        raise FirstlightError(f"pip cannot collect the wheels: {lines[-1] if lines else f'status {done.returncode}'}")
