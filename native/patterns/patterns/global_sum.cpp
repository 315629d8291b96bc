// The sum of all vectors on every process: by the library's own call, along a hypercube, around a ring, or by halves (Rabenseifner).
#include <bit>

#include "neighbours.hpp"
#include "together.hpp"

namespace fl::patterns {

namespace {

enum Method { library, cube, ring, rabenseifner };
constexpr Rank most_steps = 4096;  // of a ring whose pieces differ in length, each a phase of its own

// To and from one other rank, or none (negative).
struct Way {
  Rank to, from;
  std::int64_t out, in;  // words
};

Phase exchange(std::string name, std::function<Way(Rank)> way, std::int64_t repetitions = 1) {
  return {.name = std::move(name),
          .repetitions = repetitions,
          .sends =
              [way](Rank me, Messages& out) {
                if (const Way w = way(me); w.to >= 0) out.push_back({w.to, 8 * w.out});
              },
          .receives =
              [way](Rank me, Messages& out) {
                if (const Way w = way(me); w.from >= 0) out.push_back({w.from, 8 * w.in});
              }};
}

std::string step(const std::string& name, std::int64_t number) { return name + ", step " + std::to_string(number); }

void along_cube(Rank ranks, std::int64_t n, Instance& made) {
  if (!std::has_single_bit(static_cast<unsigned>(ranks)))
    throw Refused("global_sum along a cube needs a power of two; " + std::to_string(ranks) + " processes given");
  for (Rank bit = 1, k = 1; bit < ranks; bit <<= 1, ++k)
    made.phases.push_back(exchange(step("cube", k), [=](Rank me) { return Way{me ^ bit, me ^ bit, n, n}; }));
}

// Pieces travel to the next rank; in each step each rank sends the piece that came in the step before.
void around_ring(Rank p, std::int64_t n, Instance& made) {
  if (p == 1) return;
  const auto length = [=](std::int64_t k) { return part(n, p, (k % p + p) % p).size(); };
  const auto both = [=](Rank me, std::int64_t first) {
    return Way{(me + 1) % p, (me + p - 1) % p, length(me + first), length(me + first - 1)};
  };
  if (n % p == 0) {
    made.phases.push_back(exchange("ring", [=](Rank me) { return both(me, 0); }, 2 * (p - 1)));
    return;
  }
  if (p > most_steps)
    throw Refused("global_sum around a ring of more than " + std::to_string(most_steps) +
                  " processes needs a multiple of their number as n; " + std::to_string(p) + " processes given");
  for (Rank k = 0; k < p - 1; ++k) made.phases.push_back(exchange(step("pieces are added", k + 1), [=](Rank me) { return both(me, -k); }));
  for (Rank k = 0; k < p - 1; ++k)
    made.phases.push_back(exchange(step("pieces go round", k + 1), [=](Rank me) { return both(me, 1 - k); }));
}

// Halves are exchanged and added until each rank has one piece of the sum, which are collected by doubling. Ranks beyond a power of two
// give their vector to a partner first and receive the sum in the end.
void by_halves(Rank p, std::int64_t n, Instance& made) {
  const auto q = static_cast<Rank>(std::bit_floor(static_cast<unsigned>(p)));
  const auto words = [=](Rank first, Rank count) { return part_begin(n, q, first + count) - part_begin(n, q, first); };
  const auto inner = [&](const std::string& name, Rank number, auto way) {
    made.phases.push_back(exchange(step(name, number), [=](Rank me) { return me < q ? way(me) : Way{-1, -1, 0, 0}; }));
  };
  const auto folded = [=](Rank me) { return me >= q ? Way{me - q, -1, n, 0} : me + q < p ? Way{-1, me + q, 0, n} : Way{-1, -1, 0, 0}; };
  if (p > q) made.phases.push_back(exchange("vectors beyond a power of two", folded));
  for (Rank half = q / 2, k = 1; half >= 1; half /= 2, ++k)
    inner("halves are added", k, [=](Rank me) {
      const Rank mine = me / half * half, theirs = mine ^ half;  // of the pieces that either keeps
      return Way{me ^ half, me ^ half, words(theirs, half), words(mine, half)};
    });
  for (Rank run = 1, k = 1; run < q; run *= 2, ++k)
    inner("pieces are collected", k, [=](Rank me) {
      const Rank mine = me / run * run, theirs = mine ^ run;
      return Way{me ^ run, me ^ run, words(mine, run), words(theirs, run)};
    });
  const auto back = [=](Rank me) {
    const Way w = folded(me);
    return Way{w.from, w.to, w.in, w.out};
  };
  if (p > q) made.phases.push_back(exchange("sums beyond a power of two", back));
}

Instance instance(Rank ranks, const Values& v) {
  const std::int64_t n = value(v, "n");
  Instance made;
  switch (static_cast<Method>(value(v, "method"))) {
    case library:
      made.phases.push_back(together("sum", Collective::allreduce, 8 * n, all_ranks(ranks)));
      break;
    case cube:
      along_cube(ranks, n, made);
      break;
    case ring:
      around_ring(ranks, n, made);
      break;
    case rabenseifner:
      by_halves(ranks, n, made);
      break;
  }
  return made;
}

}  // namespace

FL_PATTERN(global_sum){.name = "global_sum",
                       .title = "the sum of all processes' vectors",
                       .applications = "solvers and neural networks that sum over all processes",
                       .source = "R1's vector sum (Cube_DoD); Rabenseifner 2004, LNCS 3036; measured here as a workload",
                       .parameters = {{.name = "n", .value = 65536, .least = 1, .most = 1 << 30, .means = "doubles of the vector"},
                                      {.name = "method",
                                       .value = rabenseifner,
                                       .means = "algorithm: the MPI library's own, or one of these",
                                       .words = {"library", "cube", "ring", "rabenseifner"}}},
                       .small = {"n=1000"},
                       .instance = instance};

}  // namespace fl::patterns
