// Parameters and state: what inputs, checks and variants share.
#pragma once

#include <functional>

#include "firstlight/grid/field.hpp"
#include "firstlight/input_mutator.hpp"

namespace himeno {

namespace grid = fl::grid;
using fl::Index;
using Point = grid::Point<3>;
using Field = grid::Field<float, 3>;

enum class Size { XS, S, M, L, XL, free };  // in the order of their names below
enum class Problem { official, general };

struct Params {
  Size size = Size::XS;
  Index i = 12, j = 10, k = 17;  // 15 inner points along k: no whole number of vectors
  Index sweeps = 3;
  Problem problem = Problem::official;
  Point processes{};

  void declare(fl::Fields& fields) {
    fields.choice("size", size, "XS|S|M|L|XL|free", "XS: 32 x 32 x 64 points; each next size doubles every edge; free: i, j and k");
    fields.integer("i", i, "points", 3, 1 << 14, "points along the first edge, including walls (if size=free)");
    fields.integer("j", j, "points", 3, 1 << 14, "points along the second edge");
    fields.integer("k", k, "points", 3, 1 << 14, "points along the third edge, which is contiguous in memory");
    fields.integer("sweeps", sweeps, "sweeps", 1, 1 << 16, "sweeps of a run");
    fields.choice("problem", problem, "official|general",
                  "official: the benchmark's inputs; general: every coefficient differs from point to point");
    fields.integer("pi", processes[0], "processes", 0, 1 << 20, "processes along i; 0: automatic");
    fields.integer("pj", processes[1], "processes", 0, 1 << 20, "processes along j; 0: automatic");
    fields.integer("pk", processes[2], "processes", 0, 1 << 20, "processes along k; 0: automatic");
  }
  Point points() const {
    if (size == Size::free) return {i, j, k};
    const Index n = Index{32} << static_cast<int>(size);
    return {n, n, 2 * n};
  }
  grid::Domain<3> domain() const {  // of inner points
    return {.extents = grid::minus<3>(points(), {2, 2, 2}), .processes = processes, .halo = {1, 1, 1}};
  }
};

// GOSA of the inputs of the first iteration, the same in every launch.
struct Gosa {
  bool known = false;
  double found = 0;   // the variant's
  double exact = 0;   // all in 64 bits
  double single = 0;  // summed in 32 bits in the order of memory, as the official program does
};

struct State {
  Params params;
  fl::Team team;
  grid::Block<3> block;
  Field p, next;  // a sweep reads p and writes next, then they are swapped; with a halo, in which the walls are
  Field a[4], b[3], c[3], bnd, wrk1;
  double gosa = 0;                 // of the last sweep, over all ranks
  std::function<void()> upload;    // p, next and wrk1, where a variant keeps them on a device
  std::function<void()> download;  // p
  fl::InputMutator changing;       // of wrk1
  Index upcoming = 0;              // the iteration of the next step
  Gosa unchanged;
};

// All that does not change within a run, by name.
enum class Coefficient { a0, a1, a2, a3, b0, b1, b2, c0, c1, c2, bnd, wrk1 };

template <class Visit>
void each_coefficient(State& s, Visit visit) {
  Field* fields[] = {&s.a[0], &s.a[1], &s.a[2], &s.a[3], &s.b[0], &s.b[1], &s.b[2], &s.c[0], &s.c[1], &s.c[2], &s.bnd, &s.wrk1};
  for (std::size_t n = 0; n < 12; ++n) visit(*fields[n], static_cast<Coefficient>(n));
}

}  // namespace himeno
