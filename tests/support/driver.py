"""Run a small firstlight for fault tests: it launches one program with the real packages for launches and the store.

    python driver.py ROOT EXECUTABLE LAUNCHES [MPI as JSON]

Creates ROOT/run, or resumes it when it is there, and goes on until LAUNCHES good launches are stored. Prints one line
a launch; ends with the exit code of the error, as the command line does.
"""

from __future__ import annotations

import sys
import time
import uuid
from pathlib import Path

import msgspec

import synthetic
from firstlight.core.errors import INTERRUPTED, FirstlightError
from firstlight.execute.launch import command, launch
from firstlight.model.plan import Cell, Placement, Program
from firstlight.results import store as stores
from firstlight.results.record import Run, Start
from firstlight.toolchain import Mpi, Toolbox


def cell(mpi: str | None) -> Cell:
    return Cell("dot.serial", Program("dot", "serial", "gcc-base", mpi), Placement(1, 2 if mpi else 1, 1), ("n=100",))


def run_of(mpi: Mpi | None = None) -> Run:
    base = synthetic.run().run
    tools = Toolbox((), (mpi,) if mpi else (), (), ())
    cells = (cell(mpi.name if mpi else None),)
    return msgspec.structs.replace(base, id="run", toolbox=tools, cells=cells, state="running", finished=None)


def carry_out(root: Path, executable: Path, wanted: int, mpi: Mpi | None) -> None:
    path = root / "run"
    with stores.resume(path) if (path / "run.json").exists() else stores.create(root, run_of(mpi)) as store:
        print(*store.notes, sep="\n", flush=True)
        run = store.run()
        what = run.cells[0]
        while sum(record.exit.ok for record in store.records()) < wanted:
            number = store.next_launch(what.id)
            part = store.part(what.id, number)
            ready = command(what, executable, run.toolbox, output=part, machine=run.machine)
            store.begin(Start(run.id, what.id, number, 0, time.time(), ready.words, 0.0))
            print("began", number, flush=True)
            outcome = launch(ready, 60, f"driver-{uuid.uuid4().hex}")
            print("stored", number, store.finish(part, outcome).reason, flush=True)
        store.write_run(msgspec.structs.replace(run, state="complete", finished=time.time()))


if __name__ == "__main__":
    library = msgspec.json.decode(sys.argv[4], type=Mpi) if len(sys.argv) > 4 else None
    try:
        carry_out(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), library)
    except FirstlightError as error:
        print(error, file=sys.stderr)
        sys.exit(error.code)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
