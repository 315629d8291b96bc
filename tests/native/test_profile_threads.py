"""The profiler under threads that call MPI at the same time, watched by the thread sanitizer."""

from __future__ import annotations

import subprocess

import pytest

import drivers
import native
import turns
from firstlight import ROOT
from firstlight.execute.recorder import calls, library
from firstlight.toolchain import Mpi

pytestmark = pytest.mark.native

SLOW = str(ROOT / "tests/native/slow_unlock.hpp")
WATCHED = ("-fsanitize=thread", "-O1", "-g", "-pthread", "-include", SLOW, *library.C_ONLY)
ROUNDS, THREADS = 200, 2


def test_threads_that_send_on_new_communicators_race_for_nothing(mpis: tuple[Mpi, ...]) -> None:
    """Threads look up the ranks and the neighbours of a new communicator simultaneously."""
    nothing = drivers.written("nothing.cpp", "int main() {}")
    if subprocess.run([drivers.linked("nothing", drivers.objects([nothing], *WATCHED), *WATCHED)]).returncode != 0:
        pytest.skip("the thread sanitizer does not run here")
    for mpi in mpis:  # its types only: what the library does with threads of its own is not watched
        generated = library.build(mpi, None, native.CACHE).parent
        sources = [ROOT / "tests/native/profiled_threads.cpp"]
        sources += [calls.FOLDER / name for name in ("state.cpp", "peers.cpp", "requests.cpp")]
        include = (f"-I{calls.FOLDER}", f"-I{generated}")
        parts = drivers.objects(sources, *WATCHED, *include, compiler=mpi.cxx, environment=mpi.environment)
        program = drivers.linked("threads", parts, *WATCHED, "-Wl,--unresolved-symbols=ignore-all")
        done = subprocess.run([program], capture_output=True, text=True, timeout=turns.PATIENCE)
        assert done.returncode == 0 and not done.stderr, f"{mpi.label}: {done.stderr[:2000]}"
        messages, size = map(int, done.stdout.split())
        # 4 neighbours of 24 bytes, one message of 16, and 4 neighbours of 8 bytes of the operation that is started
        assert (messages, size) == (THREADS * ROUNDS * 9, THREADS * ROUNDS * (4 * 24 + 16 + 4 * 8)), mpi.label
