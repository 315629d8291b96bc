"""Large arrays are kept for a case of the same size, freed before any other case, and mapped as before. Writes outside
of any array are found.
"""

from __future__ import annotations

import subprocess

import pytest

import drivers
from firstlight import ROOT

pytestmark = [pytest.mark.native, pytest.mark.full]

HARNESS = ROOT / "native" / "harness"
PROGRAM = r"""
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "fences.hpp"
#include "firstlight/workload.hpp"
#include "pages.hpp"

namespace {

constexpr std::size_t MiB = std::size_t{1} << 20;

std::uintptr_t block_of(const void* array) { return reinterpret_cast<std::uintptr_t>(array) / (2 * MiB) * (2 * MiB); }

bool mapped(std::uintptr_t block) {
  unsigned char resident = 0;
  return mincore(reinterpret_cast<void*>(block), 4096, &resident) == 0;
}

void say(const char* what, bool value) { std::printf("%s %d\n", what, value ? 1 : 0); }

}  // namespace

int main() {
  constexpr std::size_t KiB = 1024;
  const fl::Pages usual{4 * KiB, 2 * MiB}, large{64 * KiB, 512 * MiB}, middle{16 * KiB, 32 * MiB}, none{64 * KiB, 0};
  say("small arrays lie on pages of the system", usual.grain_of(1000) == 4 * KiB && large.grain_of(1000) == 64 * KiB);
  say("large ones on huge pages", usual.grain_of(256 * KiB) == 2 * MiB && middle.grain_of(32 * MiB) == 32 * MiB);
  say("that waste no memory", large.grain_of(64 * MiB) == 64 * KiB && large.grain_of(600 * MiB) == 512 * MiB);
  say("if there are any", none.grain_of(64 * MiB) == 64 * KiB);
  say("which the system is asked for", fl::pages().page == static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  char* first = static_cast<char*>(fl::allocate(8 * MiB));
  char* second = static_cast<char*>(fl::allocate(8 * MiB));
  say("lines", reinterpret_cast<std::uintptr_t>(first) % 64 == 0 && reinterpret_cast<std::uintptr_t>(second) % 64 == 0);
  say("staggered", reinterpret_cast<std::uintptr_t>(first) % 4096 != reinterpret_cast<std::uintptr_t>(second) % 4096);
  for (char* array : {first, second})
    for (std::size_t i = 0; i < 8 * MiB; ++i) array[i] = 7;  // the whole length is there
  const std::uintptr_t a = block_of(first), b = block_of(second);
  // As a state's arrays: the last one goes first.
  fl::release(second, 8 * MiB);
  fl::release(first, 8 * MiB);
  say("kept", mapped(a) && mapped(b));
  char* again = static_cast<char*>(fl::allocate(8 * MiB));
  say("same place", block_of(again) == a);
  char* beside = static_cast<char*>(fl::allocate(8 * MiB));
  say("same place of the second", block_of(beside) == b);
  void* fresh = fl::allocate(8 * MiB);
  say("never one block twice", block_of(fresh) != a && block_of(fresh) != b);
  fl::release(fresh, 8 * MiB);
  fl::release(beside, 8 * MiB);
  void* small = fl::allocate(1000);
  say("small ones are apart", mapped(b));
  void* other = fl::allocate(32 * MiB);
  const bool taken_over = b >= block_of(other) && b < block_of(other) + 34 * MiB;  // the system may map it there again
  say("another size ends it", (taken_over || !mapped(b)) && mapped(a));
  for (std::size_t i = 0; i < 8 * MiB; ++i) again[i] = 8;  // what is in use stays
  fl::fence();
  auto* tail = reinterpret_cast<unsigned char*>(small) + 1000;
  double beyond[2];
  float before;
  std::memcpy(&beyond[0], tail, sizeof(double));
  std::memcpy(&beyond[1], again + 8 * MiB, sizeof(double));
  std::memcpy(&before, tail - 1004, sizeof before);
  say("marked", std::isnan(beyond[0]) && std::isnan(beyond[1]) && std::isnan(before));
  say("each its own", std::memcmp(&beyond[0], &beyond[1], sizeof(double)) != 0);
  again[8 * MiB - 1] = tail[-1] = tail[-1000] = 3;
  say("nothing beside", fl::trespassed() == 0);
  tail[0] ^= 1;
  say("one beside", fl::trespassed() == 1);
  again[8 * MiB + 63] ^= 1;
  tail[-1001] ^= 1;
  say("two beside", fl::trespassed() == 2);
  fl::release(small, 1000);
  say("gone with its array", fl::trespassed() == 1);
  fl::release(other, 32 * MiB);
  fl::release(again, 8 * MiB);
  return 0;
}
"""


def test_blocks_are_kept_for_a_case_of_the_same_size_only_and_their_ends_are_watched() -> None:
    needed = (HARNESS / "src" / name for name in ("memory_pages.cpp", "support.cpp", "comm_serial.cpp"))
    sources = (drivers.written("blocks.cpp", PROGRAM), *needed)
    include = (f"-I{HARNESS / 'include'}", f"-I{HARNESS / 'src'}")
    program = drivers.program("blocks", sources, "-O1", "-Wall", "-Wextra", "-Werror", *include)
    done = subprocess.run([program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    answers = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
    assert len(answers) == 19
    assert {what for what, answer in answers.items() if answer != "1"} == set()
