// fft3d: the discrete Fourier transform of a box of points in three dimensions, over all processes.
//
// Processes stand in a grid of p1 x p2. Of the input, x is cut into p1 parts and y into p2; of the transform z into p2 and y into p1, and
// it is in the order z, y, x: who multiplies it and goes back, as task=return does, needs no more. Slabs have p2 = 1.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "../exchange.hpp"
#include "../known.hpp"
#include "firstlight/input_mutator.hpp"
#include "firstlight/split.hpp"

namespace fft3d {

using fl::Complex, fl::Index, spectral::phases;
using Extents = std::array<Index, 3>;

enum class Cut { slab, pencil };
enum class Task { forward, back_again };
enum class Input { random, wave };

struct Params {
  Index n = 64, ny = 0, nz = 0, columns = 0;
  Cut cut = Cut::slab;
  Task task = Task::forward;
  Input input = Input::random;
  spectral::Way exchange = spectral::Way::alltoall;
  void declare(fl::Fields& fields) {
    fields.integer("n", n, "points", 1, 4096, "points along x");
    fields.integer("ny", ny, "points", 0, 4096, "points along y; 0: as along x");
    fields.integer("nz", nz, "points", 0, 4096, "points along z; 0: as along x");
    fields.choice("cut", cut, "slab|pencil", "whether each process has planes of the box, or lines");
    fields.integer("columns", columns, "processes", 0, 4096, "processes per plane, for pencils; 0: as square a grid as possible");
    fields.choice("task", task, "forward|return", "the transform alone, or followed by its inverse");
    fields.choice("exchange", exchange, spectral::ways, spectral::ways_help);
    fields.choice("input", input, "random|wave", "random numbers, or a plane wave with a few added points");
  }
  Extents extents() const { return {n, ny == 0 ? n : ny, nz == 0 ? n : nz}; }
  Index points() const { return extents()[0] * extents()[1] * extents()[2]; }
};

// A grid of ranks in their order, the columns of a row first.
struct Grid {
  int rows = 1, columns = 1;
  int row(int rank) const { return rank / columns; }
  int column(int rank) const { return rank % columns; }
};

// Returns the requested grid; it has no processes if there is none.
inline Grid grid_of(const Params& p, int ranks) {
  const Extents n = p.extents();
  int columns = p.cut == Cut::slab ? 1 : static_cast<int>(p.columns);
  const auto fits = [&](int c) { return ranks % c == 0 && ranks / c <= std::min(n[0], n[1]) && c <= std::min(n[1], n[2]); };
  if (columns == 0)
    for (int c = 1; c <= ranks; ++c)
      if (fits(c) && (columns == 0 || std::max(c, ranks / c) < std::max(columns, ranks / columns))) columns = c;
  return columns > 0 && fits(columns) ? Grid{ranks / columns, columns} : Grid{0, 0};
}

// Points of a process: parts of the first two dimensions and all of the third, in the order of rows.
struct Pencils {
  fl::Part first, second;
  Index third = 0;
  Index size() const { return first.size() * second.size() * third; }
};

struct State {
  fl::Team team;
  Params p;
  Extents n{};
  Grid grid;
  Pencils given, transformed;  // x, y, z and z, y, x
  fl::Array<Complex> in, out;
  fl::InputMutator changing;  // points of the whole input, counted in the order x, y, z
  Extents wave{};             // its frequencies
};

inline constexpr fl::About about{
    .title = "Fourier transform in three dimensions",
    .cost = "5 N log2 N flops for N points, twice that with the inverse; 32 bytes per point, read and written once",
    .verified =
        "Up to 2^15 points: each point, compared with sums in long double, one dimension after the other. Beyond: the first, the last"
        " and one middle point of each process, the transform at two random frequencies between points, and the sum of squares. Each "
        "point for a plane wave with a few added points, and, with the inverse, compared with the input.",
    .tolerance =
        "16 eps log2(N) times the magnitude: 1 for an input, sqrt(N) for a point, N between points and for a wave (HPC Challenge's rule)",
    .phases = phases,
};

inline constexpr fl::Metric metrics[] = {
    {"rate", "Gflop/s", "flops", "rate", 1e-9, "higher"},
    {"bandwidth", "GB/s", "bytes", "rate", 1e-9, "higher"},
};

inline std::string refuse(const Params& p, const fl::Team& team) {
  if (p.cut == Cut::slab && p.columns != 0) return "slabs are not divided further: columns= is for cut=pencil";
  if (grid_of(p, team.ranks).rows > 0) return "";
  const Extents n = p.extents();
  if (p.cut == Cut::slab)
    return fl::text("slabs of %lld x %lld planes: needs at most one process per plane, %d given", n[0], n[1], team.ranks);
  return fl::text("no grid of %d processes cuts %lld x %lld x %lld points into pencils of one line at least%s", team.ranks, n[0], n[1],
                  n[2], p.columns == 0 ? "" : fl::text(", %lld columns wide", p.columns).c_str());
}

inline fl::Cost cost(const Params& p, const fl::Team& team) {
  const double n = static_cast<double>(p.points()), times = p.task == Task::forward ? 1 : 2;
  return {.flops = times * 5 * n * std::log2(n), .bytes = times * 32 * n, .working_set = 32 * n / team.ranks};
}

// Visits the points of a process: which of its own, and where in the box.
template <class Visit>
void each_point(const Pencils& mine, Visit visit) {
  Index i = 0;
  for (Index a = mine.first.begin; a < mine.first.end; ++a)
    for (Index b = mine.second.begin; b < mine.second.end; ++b)
      for (Index c = 0; c < mine.third; ++c) visit(i++, Extents{a, b, c});
}

inline Index number(const Extents& n, const Extents& j) { return (j[0] * n[1] + j[1]) * n[2] + j[2]; }
inline Extents place(const Extents& n, Index number) { return {number / n[2] / n[1], number / n[2] % n[1], number % n[2]}; }

// exp(2 pi i) to the sum of the frequencies times the places.
inline spectral::Long wave_at(const State& s, const Extents& j) {
  long double turns = 0;
  for (std::size_t d = 0; d < 3; ++d) turns += static_cast<long double>(s.wave[d] * j[d] % s.n[d]) / static_cast<long double>(s.n[d]);
  return spectral::unit(turns);
}

// The input where nothing changed.
inline Complex point(const State& s, const Extents& j) {
  if (s.p.input == Input::random) return spectral::point(number(s.n, j), -1);
  return static_cast<Complex>(wave_at(s, j));
}

inline void init(State& s, const Params& p, const fl::Team& team) {
  s.p = p, s.team = team, s.n = p.extents(), s.grid = grid_of(p, team.ranks);
  const int row = s.grid.row(team.rank), column = s.grid.column(team.rank);
  s.given = {fl::part(s.n[0], s.grid.rows, row), fl::part(s.n[1], s.grid.columns, column), s.n[2]};
  s.transformed = {fl::part(s.n[2], s.grid.columns, column), fl::part(s.n[1], s.grid.rows, row), s.n[0]};
  s.in = fl::Array<Complex>(s.given.size());
  s.out = fl::Array<Complex>((p.task == Task::forward ? s.transformed : s.given).size());
  s.changing = fl::InputMutator(p.points(), fl::InputMutator::most, true);
  for (std::size_t d = 0; d < 3; ++d) s.wave[d] = static_cast<Index>(fl::hash(fl::seed() + d) % static_cast<std::uint64_t>(s.n[d]));
  fl::first_touch(&s);
  each_point(s.given, [&](Index i, const Extents& j) { s.in[i] = point(s, j); });
}

inline void mutate_inputs(State& s, Index iteration) {
  s.changing.mutate_inputs(iteration, [&](Index changed) {
    const Extents j = place(s.n, changed);
    const auto& [x, y, nz] = s.given;
    if (j[0] < x.begin || j[0] >= x.end || j[1] < y.begin || j[1] >= y.end) return;
    s.in[((j[0] - x.begin) * y.size() + j[1] - y.begin) * nz + j[2]] = spectral::point(changed, iteration);
  });
}

inline Index mutate_between_batches(State& s, Index next) {
  return s.changing.mutate_between_batches(next, [&](Index iteration) { mutate_inputs(s, iteration); });
}

inline void poison(State& s) { fl::poison(reinterpret_cast<double*>(s.out.data()), 2 * s.out.size()); }

}  // namespace fft3d

#include "judge.hpp"
