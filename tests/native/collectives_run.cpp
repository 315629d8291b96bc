// Runs schedules on MPI and compares every element with the closed form.
//
//   collectives_run SEED CASES               random cases, the same on all ranks; one line a case that is wrong
//   collectives_run all COUNTS               every algorithm, collective, root with counts 0 to COUNTS a block or message
//   collectives_run chains                   "algorithm collective items chain" of rank 0
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "firstlight/collectives/executor.hpp"

using namespace fl::collectives;

namespace {

using Number = std::int64_t;
int me = 0, ranks = 1;

Number value(int rank, std::int64_t i, int run) { return (rank + 1) * 1000003ll + i * 7919 + run * 104729ll; }

struct Case {
  const Algorithm* algorithm;
  Collective collective;
  Rank root = 0;
  std::int32_t segments = 1;
  std::int64_t count = 0;
  bool apart = false;
};

Number expected(const Case& c, std::int64_t i, int run) {
  const std::int64_t block = c.count == 0 ? 1 : c.count;
  switch (c.collective) {
    case Collective::broadcast:
      return value(c.root, i, run);
    case Collective::allgather:
      return value(static_cast<int>(i / block), i % block, run);
    case Collective::alltoall:
      return value(static_cast<int>(i / block), me * block + i % block, run);
    default:
      break;
  }
  Number sum = 0;
  for (int r = 0; r < ranks; ++r) sum += value(r, i, run);
  return sum;
}

bool specified(const Case& c, std::int64_t i) {
  if (c.collective == Collective::reduce) return me == c.root;
  if (c.collective == Collective::reduce_scatter) return i / (c.count == 0 ? 1 : c.count) == me;
  return true;
}

// Runs twice with one data and once with other, so that persistent requests are made, used and made anew.
std::int64_t wrong(const Case& c, Execution& e) {
  const std::int64_t n = elements_of(c.collective, c.count, ranks);
  constexpr Number nothing = -77;
  std::vector<Number> data(static_cast<std::size_t>(n) + 1), other(data.size()), input(data.size());
  std::int64_t bad = 0;
  for (int run = 0; run < 4; ++run) {
    std::vector<Number>& d = run < 3 ? data : other;
    std::fill(d.begin(), d.end(), nothing);
    for (std::int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<std::size_t>(i);
      input[k] = value(me, i, run);
      if (c.collective == Collective::allgather) {
        if (!c.apart && c.count > 0 && i / c.count == me) d[k] = value(me, i % c.count, run);
      } else if (c.collective == Collective::broadcast ? me == c.root : c.collective != Collective::alltoall && !c.apart) {
        d[k] = value(me, i, run);
      }
    }
    if (e.run(d.data(), c.collective == Collective::alltoall || c.apart ? input.data() : nullptr) != MPI_SUCCESS) return -1;
    for (std::int64_t i = 0; i < n; ++i) bad += specified(c, i) && d[static_cast<std::size_t>(i)] != expected(c, i, run);
    bad += d[static_cast<std::size_t>(n)] != nothing;
    if (c.apart)
      for (std::int64_t i = 0; i < n; ++i) bad += input[static_cast<std::size_t>(i)] != value(me, i, run);
  }
  return bad;
}

bool can_be_apart(Collective c) {
  return c == Collective::reduce || c == Collective::allreduce || c == Collective::reduce_scatter || c == Collective::allgather;
}

int failures = 0, runs = 0, refusals = 0;

void examine(const Case& c, const Channel& channel, bool tell) {
  try {
    const double bytes = 8 * static_cast<double>(c.count);
    const Schedule s = schedule_for(*c.algorithm, c.collective, ranks, c.root, c.segments, bytes);
    Execution e(s, channel, {MPI_INT64_T, MPI_SUM, elements_of(c.collective, c.count, ranks)}, c.apart && can_be_apart(c.collective));
    const Execution::Numbers numbers = e.numbers();
    if (tell && me == 0)
      std::printf("%s %s %lld %d\n", c.algorithm->name, word(c.collective), static_cast<long long>(numbers.items), numbers.chain ? 1 : 0);
    const std::int64_t mine = wrong({c.algorithm, c.collective, c.root, c.segments, c.count, c.apart && can_be_apart(c.collective)}, e);
    std::int64_t all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    ++runs;
    if (all == 0) return;
    ++failures;
    if (me == 0)
      std::printf("wrong: %s %s root %d segments %d count %lld apart %d: %lld elements\n", c.algorithm->name, word(c.collective), c.root,
                  c.segments, static_cast<long long>(c.count), c.apart ? 1 : 0, static_cast<long long>(all));
  } catch (const Refused&) {
    ++refusals;
  }
}

void random_cases(unsigned seed, int cases, const Channel& channel) {
  std::mt19937 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  static constexpr int most[] = {1, 10, 300, 5000, 70000};
  for (int k = 0; k < cases; ++k) {
    const Algorithm* a = all_algorithms()[static_cast<std::size_t>(below(static_cast<int>(all_algorithms().size())))];
    int forms = 0;
    for (const Form& f : a->forms) forms += f.schedule != nullptr;
    const Form& form = a->forms[static_cast<std::size_t>(below(forms))];
    Case c{.algorithm = a, .collective = form.collective};
    c.root = below(ranks);
    c.segments = a->pipelined ? below(20) : 1;
    c.count = below(most[below(5)]);
    c.apart = below(2) == 1;
    examine(c, channel, false);
  }
}

void all_cases(std::int64_t counts, const Channel& channel, bool tell) {
  for (const Algorithm* a : all_algorithms())
    for (const Form& f : a->forms) {
      if (f.schedule == nullptr) continue;
      const bool rooted = f.collective == Collective::broadcast || f.collective == Collective::reduce;
      for (Rank root = 0; root < (rooted && !tell ? ranks : 1); ++root)
        for (std::int64_t count = tell ? counts : 0; count <= counts; ++count)
          for (const bool apart : {false, true}) examine({a, f.collective, root, a->pipelined ? 3 : 1, count, apart}, channel, tell);
    }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  {
    const Channel channel(MPI_COMM_WORLD);
    if (argc == 3 && std::strcmp(argv[1], "all") == 0)
      all_cases(std::atoll(argv[2]), channel, false);
    else if (argc == 2 && std::strcmp(argv[1], "chains") == 0)
      all_cases(1000, channel, true);
    else if (argc == 3)
      random_cases(static_cast<unsigned>(std::atoi(argv[1])), std::atoi(argv[2]), channel);
    else
      failures = 1;
  }
  if (me == 0) std::printf("runs %d refused %d wrong %d\n", runs, refusals, failures);
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
