"""A firstlight whose compilers are invented: workloads in a folder, programs that are scripts, everything else real."""

from __future__ import annotations

import hashlib
import io
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
import pytest

from firstlight import toolchain as toolchains
from firstlight.execute import build
from firstlight.execute.build import Built
from firstlight.model import catalogue
from firstlight.model.plan import Program
from firstlight.results.description import Description, Metric, Parameter
from firstlight.runner import costs, energy
from firstlight.runner.progress import Plain
from firstlight.system.energy import Discovered
from firstlight.toolchain import Absent, Toolbox, Toolchain

TOML = """
title = "Scalar product"
question = "What does a core give?"

[[suites.quick]]
variants = ["*"]
parameters = { n = [100, 1000] }

[[rows]]
order = 1
title = "scalar product"
metric = "rate"
where = { n = 1000 }
"""

# Speaks the record protocol for n=..., text=..., --samples; a file `<program>.wrong`, `.hang`, `.die` beside it makes
# it do so; `.refuse`: it refuses cases of 1000 and more, `.replaced`: n has no meaning with a file.
# Asked with --describe whether it takes values, it takes lengths of at least 1, and texts that are not "bad".
BODY = """
here = sys.argv[0]
place = os.path.dirname(here)
workload, variant = os.path.basename(here).split("@")[0].split(".")
words = dict(w.split("=") for w in sys.argv[1:] if "=" in w)
name = words.get("text", "")
kept = len(name) > 17 and name[-17] == "-"
if kept:
    with open(os.path.join(sys.argv[sys.argv.index("--documents") + 1], name)) as file:
        text = file.read()
if "--describe" in sys.argv:
    wrong = "n must be at least 1" if any(int(n) < 1 for n in words.get("n", "1").split(",")) else ""
    wrong = wrong or (f"{name[:-17]}:1: it is bad" if kept and text == "bad" else "")
    if wrong:
        print(f"{here}: {wrong}", file=sys.stderr)
    sys.exit(2 if wrong else 0)
asked = lambda what: os.path.exists(f"{here}.{what}") or os.path.exists(os.path.join(place, f"{variant}.{what}"))
line(type="launch", protocol=1, workload=workload, variant=variant, compiler="c", flags="-O2", mpi="", ranks=1, nodes=1,
     binding=[{"rank": 0, "node": 0, "cpus": cpus()}], counters="none here", clock=1e-9)
if asked("hang"):
    open(f"{here}.hangs", "w").close()
    hang()
if asked("die"):
    os.abort()
more = {"text": name} if name else {}
sizes = [int(n) for n in words.get("n", "100").split(",")]
if kept and asked("replaced"):
    sizes = sizes[:1]
if asked("refuse") and min(sizes) >= 1000:
    print(f"{here}: n is too large", file=sys.stderr)
    sys.exit(2)
for k, n in enumerate(sizes):
    values = more if kept and asked("replaced") else {"n": n, **more}
    if asked("refuse") and n >= 1000:
        line(type="refused", case=k, parameters=values, threads=1, why="n is too large")
        continue
    line(type="case", case=k, parameters=values, threads=1, cost={"flops": 2.0 * n}, working_set=16.0 * n, steps=1000)
    for index in range(3):
        wall = 2e-6 * n * (1 + 0.001 * index)
        line(type="sample", case=k, sample=index, wall=wall, wall_min=wall, wall_median=wall, cpu=0.99)
    if "--energy" in sys.argv:
        at, seconds = 100.0 * k, 6e-6 * n * 1.001
        files = [] if sys.argv[sys.argv.index("--energy") + 1] == "times" else [0]
        line(type="span", case=k, began=at, ended=at + 1.0001 * seconds, wall=seconds, before=[[5 for _ in files]],
             after=[[5 + round(POWER * seconds / 1e-6) for _ in files]])
    wrong = asked("wrong")
    line(type="check", case=k, when="after", ok=not wrong, error=1.0 if wrong else 0.0, tolerance=1e-16, what="the sum")
line(type="end", cases=len(sizes))
sys.exit(1 if asked("wrong") else 0)
"""

POWER = 60.0
"""The power of these programs, in watts, if their energy is counted in microjoules."""
BODY = f"POWER = {POWER}\n{BODY}"

RATE = Metric("rate", "Gflop/s", "flops", "rate", 1e-9, "higher")


def toolchain(name: str) -> Toolchain:
    compiler, _, flag_set = name.rpartition("-")
    return Toolchain(name, compiler, flag_set, "12.2", "/usr/bin/c++", ("-O2",), ("-fopenmp",))


def printed(progress: Plain) -> str:
    """Return what the `progress` of a test has shown."""
    assert isinstance(progress._stream, io.StringIO)
    return progress._stream.getvalue()


class Bench:
    """`programs`: where the scripts lie; `broken`: keys of programs that do not build."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.programs = root, root / "programs"
        self.results = root / "results"
        self.broken: set[str] = set()
        self.toolbox = Toolbox(
            (toolchain("gcc-base"), toolchain("gcc-fast")), (), (), (Absent("MPI", "none here", "install one"),)
        )
        self.programs.mkdir()
        self.workload("dot", "serial", "kahan")
        monkeypatch.setattr(catalogue, "roots", lambda: [root / "workloads"])
        monkeypatch.setattr(toolchains, "discover", lambda *_, **__: self.toolbox, raising=False)
        monkeypatch.setattr(energy, "discover", lambda: Discovered(None, ()))  # whatever this machine has
        monkeypatch.setattr(build, "build", self.build)
        monkeypatch.setattr(build, "known", self.known)
        self.built: list[str] = []
        monkeypatch.setattr(costs, "load", lambda _: {})  # these launches are not what those of others take
        monkeypatch.setattr(costs, "keep", lambda *_: None)

    def workload(self, name: str, *variants: str, toml: str = TOML) -> None:
        folder = self.root / "workloads" / "node" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "workload.toml").write_text(toml)
        for variant in variants:
            (folder / f"{variant}.cpp").write_text(f"// {variant}\n")

    def misbehave(self, behaviour: str, *names: str) -> None:
        """Make a program (by its key) or a variant do `wrong`, `die`, `hang`, `refuse` or `replaced` from now on."""
        for name in names:
            (self.programs / f"{name}.{behaviour}").touch()

    def build(
        self,
        programs: Iterable[Program],
        toolbox: Toolbox,
        workloads: object,
        cache: Path,
        progress: Callable[[int, int, str], None],
    ) -> dict[Program, Built]:
        programs = list(programs)
        self.built += [p.key for p in programs]
        progress(len(programs), len(programs), "all")
        return {p: self._built(p) for p in programs}

    def known(self, programs: Iterable[Program], *_: object) -> dict[Program, Built]:
        """Those that were built already."""
        return {p: self._built(p) for p in programs if p.key in self.built}

    def _built(self, program: Program) -> Built:
        if program.key in self.broken:
            return Built(program, None, b"", 0.1, "", "", f"{program.target}.cpp:1: error: it is broken\nall the words")
        path = self.programs / program.key
        here = Path(__file__).parent
        path.write_text(
            f"#!{sys.executable} -IS\nimport sys\nsys.path.insert(0, {str(here)!r})\nfrom standin import *\n{BODY}"
        )
        path.chmod(0o755)
        replaced = "text" if (self.programs / f"{program.variant}.replaced").exists() else ""
        described = Description(
            program.workload,
            program.variant,
            "t",
            (
                Parameter("n", "1", "100", "length", replaced_by=replaced),
                Parameter("text", "", "none", "a text", "file", options=("none",)),
            ),
            (RATE,),
            "2 n",
            "the sum",
            "eps",
        )
        digest = hashlib.sha256(path.read_bytes() + program.key.encode()).hexdigest()
        return Built(program, path, msgspec.json.encode(described), 0.1, digest, program.key, "")
