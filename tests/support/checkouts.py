"""A checkout with `fl` in it, whose Python and pip are a shell script."""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import turns
from firstlight import ROOT

PYTHON = rf"""#!/bin/sh
# Stands in for Python: makes environments that hold copies of itself, and writes down what it is asked to do.
# Only the lock is a real one.
real={shlex.quote(sys.executable)}
"""
PYTHON += r"""
how=$1
case $how in
    -I | -P) shift ;;
    *) how= ;;
esac
case $1 in
    */caller.py)
        [ -n "${CLEANED:-}" ] && exec "$real" -I "$@"
        shift
        exec "$@"
        ;;
esac
printf '%s\n' "$*" >>"$STAND_IN_LOG"
[ -n "${REALLY:-}" ] && [ "$1" = -m ] && "$real" $how -m "$2" --help >/dev/null 2>&1
[ "$1 $2 ${SHOWN:-}" = "-m pip ${SHOWN:-none}" ] &&
    eval "echo \"pip sees <\$$SHOWN> and <$PIP_FIND_LINKS>\"" >>"$STAND_IN_LOG"
case "$1 $2" in
    "-c "*metadata*) [ -n "${LACKS:-}" ] && { echo "ModuleNotFoundError: No module named '$LACKS'" >&2; exit 1; } ;;
    "-c import"*sys.executable*) echo "${ITSELF:-}" ;;
esac
case "$1 $2" in
    "-c import"*) exit "${TOO_OLD:-0}" ;;
    "-c "*flock*)
        [ -n "${NO_LOCKS:-}" ] && set -- -c "import errno, fcntl
def flock(*_): raise OSError(errno.ENOLCK, 'No locks available')
fcntl.flock = flock
$2" "$3" "$4"
        exec "$real" -I "$@"
        ;;
    "-m venv" | "-m virtualenv")
        [ "$2" = venv ] && [ -n "${NO_VENV:-}" ] && { echo "ensurepip is not available"; exit 1; }
        [ "$2" = virtualenv ] && [ -z "${HAS_VIRTUALENV:-}" ] && { echo "No module named virtualenv"; exit 1; }
        if [ -n "${ROUND:-}" ]; then # who else sets up now?
            for other in "$ROUND"/*; do # a dead one has no words
                grep -q . "/proc/${other##*/}/cmdline" 2>/dev/null && echo TWO AT ONCE >>"$STAND_IN_LOG"
            done
            : >"$ROUND/$PPID"
            [ -e "$ROUND is killed" ] || { : >"$ROUND is killed"; kill -KILL 0; } # the first one, with its fl
        fi
        mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && cp "$0" "$3/bin/pip"
        ;;
    "-m pip")
        [ -n "${ROUND:-}" ] && sleep 0.05 && rm -f "$ROUND/$PPID" && exit 0
        # some shells lose a Ctrl-C that comes while they fork
        [ -n "${INSTALLING_TAKES:-}" ] && exec sleep "$INSTALLING_TAKES"
        while [ -n "${INSTALLING_AWAITS:-}" ] && [ ! -e "$INSTALLING_AWAITS" ]; do sleep 0.05; done
        [ -n "${INSTALLING_FAILS:-}" ] && { echo "line one"; echo "ERROR: line two" >&2; exit 1; }
        exit 0
        ;;
    "-m firstlight")
        shift 2
        printf '<%s>' "$@"
        command -v pip
        exit "${STATUS:-0}"
        ;;
    "-m ruff" | "-m mypy" | "-m pytest")
        [ "$2 ${TESTS_TAKE:-}" = "pytest ${TESTS_TAKE:-none}" ] && {
            trap 'kill $!; exit 2' INT
            sleep "$TESTS_TAKE" & echo "pytest hears signals" >>"$STAND_IN_LOG"
            wait
        }
        [ "$2 ${3:-}" = "${FAILING:-none}" ] || [ "$2" = "${FAILING:-none}" ] && exit 1
        printf '%s in %s\n' "$*" "$(pwd)"
        ;;
esac
"""


class Checkout:
    """Represent a checkout in a folder with blanks, with a Python that misbehaves on request."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "a check out"
        self.root.mkdir()
        shutil.copy(ROOT / "fl", self.root / "fl")
        shutil.copy(ROOT / "pyproject.toml", self.root / "pyproject.toml")
        core = self.root / "src" / "firstlight" / "core"
        core.mkdir(parents=True)
        shutil.copy(ROOT / "src" / "firstlight" / "core" / "caller.py", core)
        for folder_with_sources in ("native", "workloads", "tests"):
            (self.root / folder_with_sources).mkdir()
        self.python = folder / "python"
        self.python.write_text(PYTHON)
        self.python.chmod(0o755)
        self.log = folder / "log"
        self.cache = self.root / ".fl"
        self.venv = self.cache / "venv"

    def environment(self, **more: str) -> dict[str, str]:
        plain = {k: v for k, v in os.environ.items() if not k.startswith(("FIRSTLIGHT_", "PIP_"))}
        return {**plain, "FIRSTLIGHT_PYTHON": str(self.python), "STAND_IN_LOG": str(self.log), **more}

    def start(self, *arguments: str, **more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.root / "fl", *arguments],
            cwd="/",
            env=self.environment(**more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str, **more: str) -> tuple[int, str, str]:
        process = self.start(*arguments, **more)
        out, err = process.communicate(timeout=turns.PATIENCE)
        return process.returncode, out, err

    def calls(self, what: str) -> int:
        """Return how many calls of Python contain this text."""
        return self.log.read_text().count(what) if self.log.exists() else 0

    def nothing_half_made(self) -> bool:
        return not self.venv.exists()

    def free(self) -> bool:
        """Return whether the lock is free."""
        with (self.cache / "setup.lock").open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
        return True
