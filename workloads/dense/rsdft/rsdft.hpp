// rsdft: the lowest states of H = -1/2 Laplacian + V + separable non-local terms on a grid in space, by Chebyshev-filtered subspace iteration
// (RSDFT on the K computer: R4; Y. Zhou, Y. Saad, M. Tiago, J. Chelikowsky 2006). V is a harmonic trap, the non-local terms are a projector
// like an s orbital and three like p orbitals, each a product of functions of x, y and z: so all eigenvalues of the discrete H are known.
//
// Processes stand in `groups`: each group cuts the grid into blocks and filters its share of the states; ranks of one block share its cells
// where all states are needed at once. A step is a whole run.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "firstlight/grid/grid.hpp"
#include "firstlight/workload.hpp"

namespace rsdft {

namespace grid = fl::grid;
using fl::Index;

inline constexpr Index lanes = 8;  // states that stand side by side in a cell: a cache line

struct Params {
  Index n = 17, order = 8, states = 8, wanted = 4, degree = 16, passes = 8, groups = 1;
  double spacing = 0.5, projectors = 1, vary = 0.05;
  void declare(fl::Fields& fields) {
    fields.integer("n", n, "points", 5, 1024, "points along each edge of the box; states vanish outside");
    fields.real("spacing", spacing, "length", 0.05, 1, "grid spacing, in the trap's unit of length");
    fields.integer("order", order, "order", 2, 12, "order of the finite differences for the Laplacian; even");
    fields.integer("states", states, "states", lanes, 4096, "number of iterated states; a multiple of 8");
    fields.integer("wanted", wanted, "states", 1, 4096, "number of the lowest states that must be correct");
    fields.integer("degree", degree, "products", 1, 1000, "degree of the filter polynomial: products with H per pass");
    fields.integer("passes", passes, "passes", 1, 1000, "filter, orthogonalise, solve in the subspace");
    fields.real("projectors", projectors, "energy", 0, 10, "strength of the non-local terms; 0: none");
    fields.real("vary", vary, "share", 0, 0.5, "variation of the trap's strength from step to step; 0: none");
    fields.integer("groups", groups, "groups", 1, 1 << 20,
                   "groups of processes; states are distributed to groups, and the grid within a group");
  }
  grid::Domain<3> domain() const { return {.extents = {n, n, n}, .halo = grid::all<3>(order / 2)}; }
  double place(Index i) const { return (static_cast<double>(i) - 0.5 * static_cast<double>(n - 1)) * spacing; }
};

struct State {
  Params p;
  fl::Team team;
  grid::Block<3> block;  // of this process's group
  Index group = 0;
  fl::Part cells;              // of the block, in memory order: of these it has all states
  fl::Array<double> states;    // cells x p.states
  fl::Array<double> energies;  // p.states, the lowest first
  double trap = 1;             // V = trap r^2 / 2
};

inline constexpr fl::Phases phases{"filter", "halo", "redistribute", "orthogonalise", "subspace", "reductions"};
inline constexpr fl::About about{
    .title = "Electrons in real space",
    .cost =
        "7 order / 2 + 5 flops per point for H and the recurrence of the filter, and 16 in the cubes of the projectors. 8 states^2 "
        "per point and pass for two orthogonalisations, the subspace and its rotation.",
    .verified =
        "The eigenvalues equal those of the discrete H, which are sums of one-dimensional eigenvalues, shifted by the secular "
        "equation of each projector. Residuals |H x - E x|, computed with an independent H. The states must be orthonormal.",
    .tolerance = "1e-9 of an eigenvalue, 1e-5 for |H x - E x|, 1e-11 for products of states; no Ritz value below its eigenvalue",
    .phases = phases,
};

inline constexpr fl::Metric metrics[] = {
    {"rate", "Gflop/s", "flops", "rate", 1e-9, "higher"},
    {"filter_rate", "Gflop/s", "flops", "rate", 1e-9, "higher", phases("filter")},
    {"orthogonalise_rate", "Gflop/s", "flops", "rate", 1e-9, "higher", phases("orthogonalise")},
    {"lowest", "1", "lowest", "value", 1, "lower"},
};

// Half the width of the cubes in which projectors are not zero, in the unit of length.
inline constexpr double reach = 2;
inline bool inside(const Params& p, Index i) { return std::fabs(p.place(i)) <= reach; }
// Their strengths: s repels, p attracts.
inline double strength_s(const Params& p) { return p.projectors; }
inline double strength_p(const Params& p) { return -0.5 * p.projectors; }

// The functions of one coordinate that projectors are products of, at the points of an edge; the sum of their squares is 1.
inline std::vector<double> factor(const Params& p, bool odd) {
  std::vector<double> f(static_cast<std::size_t>(p.n));
  double squares = 0;
  for (Index i = 0; i < p.n; ++i) {
    const double x = p.place(i), value = inside(p, i) ? (odd ? x : 1) * std::exp(-0.5 * x * x) : 0;
    f[static_cast<std::size_t>(i)] = value;
    squares += value * value;
  }
  for (double& value : f) value /= std::sqrt(squares);
  return f;
}

inline void init(State& s, const Params& p, const fl::Team& team) {
  s.p = p, s.team = team;
  s.group = team.rank % p.groups;
  s.block = grid::Block<3>(p.domain(), team.ranks / p.groups, team.rank / static_cast<int>(p.groups));
  s.cells = fl::part(s.block.cells().cells(), p.groups, s.group);
  s.states = fl::Array<double>(s.cells.size() * p.states);
  s.energies = fl::Array<double>(p.states);
  fl::first_touch(&s);
}

// visit(number, place in the whole box) for the cells that this process has, in memory order.
template <class Visit>
void each_own_cell(const State& s, Visit visit) {
  Index at = 0;
  grid::each_cell(s.block.cells(), [&](const grid::Point<3>& cell) {
    if (at >= s.cells.begin && at < s.cells.end) visit(at - s.cells.begin, s.block.global(cell));
    ++at;
  });
}

// Random states, the same however they are cut.
inline void reset(State& s) {
  each_own_cell(s, [&](Index c, const grid::Point<3>& place) {
    const std::uint64_t first = s.block.number(place) * static_cast<std::uint64_t>(s.p.states);
    for (Index j = 0; j < s.p.states; ++j) s.states[c * s.p.states + j] = fl::uniform(first + static_cast<std::uint64_t>(j));
  });
}

// Returns the strength of the trap in a step. It is drawn for each launch, so no step may begin with what another one found.
inline double trap(const Params& p, Index iteration) {
  return 1 + p.vary * fl::uniform(fl::hash(fl::seed()) ^ static_cast<std::uint64_t>(iteration));
}
inline void mutate_inputs(State& s, Index iteration) { s.trap = trap(s.p, iteration); }
inline void poison(State& s) { fl::poison(s.energies.data(), s.energies.size()); }

// A product with H or a step of the filter, of all states.
inline double flops_of_h(const Params& p) {
  double cube = 0;
  for (Index i = 0; i < p.n; ++i) cube += inside(p, i) ? 1 : 0;
  const double points = std::pow(static_cast<double>(p.n), 3), at_a_point = 3.5 * static_cast<double>(p.order) + 5;
  return static_cast<double>(p.states) * (at_a_point * points + (p.projectors > 0 ? 16 * cube * cube * cube : 0));
}

inline fl::Cost cost(const Params& p, const fl::Team& team) {
  const auto passes = static_cast<double>(p.passes), states = static_cast<double>(p.states);
  const double points = std::pow(static_cast<double>(p.n), 3);
  const double filter = passes * static_cast<double>(p.degree) * flops_of_h(p), square = points * states * states;
  const double orthogonalise = (passes + 1) * 4 * square, subspace = (passes + 1) * (flops_of_h(p) + 4 * square);
  const double filter_bytes = passes * static_cast<double>(p.degree) * points * (24 * states + 8 * states / lanes);
  return {.flops = filter + orthogonalise + subspace,
          .bytes = filter_bytes + (passes + 1) * 16 * points * states,
          .elements = points * states,
          .working_set = points * (16 * lanes + 8) / team.ranks * static_cast<double>(p.groups),
          .phases = {{phases("filter"), &fl::Cost::flops, filter},
                     {phases("filter"), &fl::Cost::bytes, filter_bytes},
                     {phases("orthogonalise"), &fl::Cost::flops, orthogonalise}}};
}

inline void observe(State& s, fl::Observations& seen) {
  seen.value("lowest", std::isfinite(s.energies[0]) ? std::max(0.0, s.energies[0]) : 0);
  seen.series("energies", "1", s.energies.data(), std::min(s.p.states, fl::Observations::most_points));
}

// The density in the middle plane: two electrons in each wanted state.
inline void draw(State& s, fl::Picture& picture) {
  picture.of("density", "electrons a volume of 1", s.p.n, s.p.n);
  const double volume = std::pow(s.p.spacing, 3);
  each_own_cell(s, [&](Index c, const grid::Point<3>& place) {
    if (place[0] != s.p.n / 2) return;
    double sum = 0;
    for (Index j = 0; j < s.p.wanted; ++j) sum += 2 * s.states[c * s.p.states + j] * s.states[c * s.p.states + j];
    sum /= volume;
    picture.row(place[1], place[2], &sum, 1);
  });
}

}  // namespace rsdft

#ifdef FL_JUDGE
#include "judge.hpp"
#endif
