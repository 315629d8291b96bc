"""Environment modules for tests: a tree with one compiler, behind a script of its own, and a module that fails."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

HERE = (
    subprocess.run(
        ["bash", "-lc", "type module"], stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60
    ).returncode
    == 0
)
ABSENT = "a login shell knows no `module`: apt install environment-modules"


def make(folder: Path) -> Path:
    """Write the tree and return the compiler of `trial/13.1`."""
    compiler = folder / "compiler" / "bin" / "g++"
    compiler.parent.mkdir(parents=True)
    compiler.write_text(f'#!/bin/sh\nexec {shutil.which("g++")} "$@"\n')
    compiler.chmod(0o755)
    (folder / "modulefiles" / "trial").mkdir(parents=True)
    (folder / "modulefiles" / "trial" / "13.1").write_text(
        f"#%Module1.0\nprepend-path PATH {compiler.parent}\nappend-path LD_LIBRARY_PATH {folder}/compiler/lib\n"
        "setenv OMP_PROC_BIND close\nsetenv TRIAL_LICENSE_KEY 12345\n"
    )
    (folder / "modulefiles" / "broken").write_text("#%Module1.0\nerror {no licence today}\n")
    return compiler


def environment(folder: Path, own: Mapping[str, str]) -> dict[str, str]:
    """Return `own`, with nothing loaded and only the modules of this tree."""
    plain = {n: v for n, v in own.items() if n not in ("LOADEDMODULES", "_LMFILES_")}
    return plain | {"MODULEPATH": str(folder / "modulefiles")}
