// Prints the bytes of one process for a lattice of this many times its own block, from set-up to check: an upper limit, as the workloads compute
// for them. There is one process here; what others would send is its own.
//   lattice_memory <processes along t> <along x> <along y> <along z>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "../dirac/dirac.hpp"
#include "../dirac_overlap/dirac_overlap.hpp"
#include "../dirac_solver/dirac_solver.hpp"
#include "comm.hpp"

namespace {

std::size_t taken = 0, most = 0;
int ranks = 1;

void* take(std::size_t bytes) {
  constexpr std::size_t head = 64;
  taken += bytes;
  most = std::max(most, taken);
  void* memory = std::aligned_alloc(head, (bytes + 2 * head - 1) / head * head);
  if (memory == nullptr) std::abort();
  std::memcpy(memory, &bytes, sizeof bytes);
  return static_cast<char*>(memory) + head;
}

void give_back(void* memory) {
  if (memory == nullptr) return;
  void* const begin = static_cast<char*>(memory) - 64;
  std::size_t bytes = 0;
  std::memcpy(&bytes, begin, sizeof bytes);
  taken -= bytes;
  std::free(begin);
}

}  // namespace

void* operator new(std::size_t bytes) { return take(bytes); }
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }

namespace fl {
void* allocate(std::size_t bytes) { return take(bytes); }
void release(void* memory, std::size_t) { give_back(memory); }
void first_touch(void*) {}
void run_steps(Index, Index) {}
std::uint64_t seed() { return 1; }
}  // namespace fl

namespace fl::comm {
void abort(int status) { std::_Exit(status); }
int rank() { return ranks - 1; }
int size() { return ranks; }
void barrier() {}
void broadcast(void*, std::size_t) {}
void gather(const void*, std::size_t, void*) {}
void maximum(double*, int) {}
void add_up(double*, int) {}
void shift(const void* mine, std::size_t bytes, int, int, void* theirs) { std::memcpy(theirs, mine, bytes); }
}  // namespace fl::comm

namespace {

template <class Work>
void tell(const char* name, Work work) {
  const std::size_t before = taken;
  most = taken;
  work();
  std::printf("%s %zu\n", name, most - before);
}

template <class Params>
Params block_each(char** words) {
  constexpr long long local = 4;
  Params p;
  p.pt = std::atoll(words[1]), p.px = std::atoll(words[2]), p.py = std::atoll(words[3]), p.pz = std::atoll(words[4]);
  p.t = local * p.pt, p.x = local * p.px, p.y = local * p.py, p.z = local * p.pz;
  return p;
}

}  // namespace

int main(int count, char** words) {
  if (count != 5) return 2;
  ranks = 1;
  for (int k = 1; k < 5; ++k) ranks *= std::atoi(words[k]);
  const fl::Team team{ranks - 1, ranks, 1, ranks};
  const lqcd::Traits scalar;
  tell("dirac", [&] {
    const auto p = block_each<dirac::Params>(words);
    dirac::State s;
    if (!dirac::refuse(p, team, scalar).empty()) std::abort();
    dirac::init(s, p, team, scalar);
    dirac::poison(s);
    dirac::check(s, 0);
  });
  tell("dirac_solver", [&] {
    const auto p = block_each<dirac_solver::Params>(words);
    dirac_solver::State s;
    if (!dirac_solver::refuse(p, team, scalar).empty()) std::abort();
    dirac_solver::init(s, p, team, scalar);
    dirac_solver::poison(s);
    dirac_solver::check(s, 0);
  });
  tell("dirac_overlap", [&] {
    const auto p = block_each<dirac_overlap::Params>(words);
    dirac_overlap::State s;
    if (!dirac_overlap::refuse(p, team, scalar).empty()) std::abort();
    dirac_overlap::init(s, p, team, scalar);
    const dirac_overlap::Copy copy(s);
    dirac_overlap::plain_error(s, copy);
    const lqcd::Overlap<dirac_overlap::Plain> overlap(copy.layout, 1, copy.links.data(), s.rho, {s.least, s.most}, s.poles);
  });
  return 0;
}
