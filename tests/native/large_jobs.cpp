// Computes all values that depend only on the number of processes, at numbers that no test can start. Ends with 0, or prints the error.
#include <cstdio>
#include <cstdlib>

#include "../support/heap.hpp"
#include "collectives.hpp"
#include "firstlight/split.hpp"

namespace fl {
void first_touch(void*) {}
void run_steps(Index, Index) {}
std::uint64_t seed() { return 1; }
}  // namespace fl

namespace {

using fl::Index;

void must(bool holds, const char* what, Index a, Index b, Index c) {
  if (holds) return;
  std::printf("%s: %lld %lld %lld\n", what, a, b, c);
  std::exit(1);
}

void division(Index ranks) {
  for (const Index n : {ranks, 3 * ranks + 7, Index{1} << 40}) {
    Index next = 0;
    for (Index k = 0; k < ranks; ++k) {
      const fl::Part part = fl::part(n, ranks, k);
      must(part.begin == next && part.size() >= n / ranks && part.size() <= n / ranks + 1, "part", n, ranks, k);
      must(fl::part_of(n, ranks, part.begin) == k && fl::part_of(n, ranks, part.end - 1) == k, "part of", n, ranks, k);
      next = part.end;
    }
    must(next == n, "parts", n, ranks, next);
  }
}

template <std::size_t D>
void grids(Index ranks, Index extent) {
  std::array<Index, D> extents;
  extents.fill(extent);
  const auto grid = fl::process_grid<D>(ranks, extents);
  must(grid && grid->size() == ranks, "grid", ranks, D, extent);
  for (Index rank = 0; rank < ranks; rank += 97) {
    must(grid->rank(grid->place(rank)) == rank, "place", ranks, D, rank);
    for (std::size_t d = 0; d < D; ++d) {
      std::array<Index, D> step{}, back{};
      step[d] = 1;
      back[d] = -1;
      must(grid->neighbour(grid->neighbour(static_cast<int>(rank), step), back) == rank, "neighbour", ranks, D, rank);
    }
  }
}

// Every word belongs to the iteration that the check assumes, and a step changes at most as many words as a step of a small job.
void inputs(int ranks, collectives::Kind kind, Index steps) {
  collectives::Params p;
  p.kind = kind;
  p.bytes = 24;
  const fl::Team team{ranks - 1, ranks, 1, 1};
  collectives::State s;
  collectives::init(s, p, team);
  std::vector<double> before(s.own.begin(), s.own.end());
  for (Index iteration = 0; iteration < steps; ++iteration) {
    if (iteration == 5) {  // as after the check before the timed loop
      s.filled = fl::beyond_timing + 1;
      collectives::fill(s);
      before.assign(s.own.begin(), s.own.end());
    }
    collectives::mutate_inputs(s, iteration);
    Index changed = 0;
    for (Index i = 0; i < s.own.size(); ++i)
      if (before[static_cast<std::size_t>(i)] != s.own[i]) ++changed, before[static_cast<std::size_t>(i)] = s.own[i];
    must(changed <= 2 * collectives::blocks_a_step + 1, "changed words", ranks, iteration, changed);
    const fl::ChangeLog ages(s.changing, iteration);
    for (Index block = 0; block < s.blocks; ++block)
      for (Index k = 0; k < 3; ++k) {
        const Index i = block * 3 + k, age = collectives::age_of_word(s, ages, i, block, iteration);
        must(s.own[i] == collectives::value(team.rank, i, age), "word", ranks, iteration, i);
      }
  }
}

}  // namespace

int main() {
  for (const Index ranks : {8192, 80000}) {
    division(ranks);
    grids<1>(ranks, 1 << 20);
    grids<2>(ranks, 1 << 20);
    grids<3>(ranks, 4096);
    grids<4>(ranks, 4096);
  }
  using collectives::Kind;
  for (const int ranks : {1, 2, 16, 17, 31, 33, 100}) {
    inputs(ranks, Kind::alltoall, 50);
    inputs(ranks, Kind::reduce_scatter, 50);
    inputs(ranks, Kind::allgather, 50);
  }
  for (const int ranks : {8192, 80000}) inputs(ranks, Kind::alltoall, 12);
  const collectives::Params large{.kind = Kind::alltoall, .bytes = Index{1} << 30};
  for (const int ranks : {8192, 80000}) must(!collectives::refuse(large, {0, ranks, 1, ranks}, {}).empty(), "too large", ranks, 0, 0);
  return 0;
}
