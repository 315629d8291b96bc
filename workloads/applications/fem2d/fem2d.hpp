// fem2d: the CHiC finite-element reference example (R1). -Laplace u = f on the unit square, quadratic triangles, conjugate gradients
// with the additive multilevel preconditioner BPX. One step is one solution from the start vector to the tolerance.
//
// u = 0 at y = 0 and u = g at y = 1, natural conditions at x = 0 and x = 1. Problem R: f = 0, so that the discrete solution is g y
// exactly. Problem M: u = g (y + cos(pi x) sin(pi y)). g is a factor that changes with the step: it scales every number of a
// solution.
#pragma once

#include <cmath>
#include <numbers>

#include "elements.hpp"
#include "firstlight/variant.hpp"
#include "reference.hpp"

namespace fem2d {

struct Params {
  fl::Index level = 5;
  std::string problem = "R";
  fl::Index digits = 6;
  fl::Index rows = 0;
  void declare(fl::Fields& fields) {
    fields.integer("level", level, "refinements", 0, 11, "refinements of the coarse mesh of 128 triangles; (16 * 2^level + 1)^2 unknowns");
    fields.choice("problem", problem, "R|M", "R: f = 0, the solution is y; M: a manufactured solution");
    fields.integer("digits", digits, "digits", 1, 12, "stop when the preconditioned residual has fallen by this number of powers of ten");
    fields.integer("rows", rows, "blocks", 0, 1024, "rows of the grid of blocks; 0: as square as possible");
  }
};

// What an iteration computes and moves for each unknown of the finest level (0: not known), and the bytes that stay for the next one.
// The coarser levels are not among the moved bytes, for they may be in a cache.
struct Work {
  double flops = 0, bytes = 0, kept = 32;
};
inline constexpr Work one_pass{25, 56};             // reads r; then reads and writes x, r and s
inline constexpr Work two_passes{25, 64};           // s is written before its energy is known, and read again
inline constexpr Work stored_matrix{25, 160, 120};  // 72 bytes of matrix; s, q = A s and r in passes of their own
inline constexpr Work v_cycle{84, 64, 35};          // reads r twice; then as one pass. Flops as counted: 84.1 to 84.5 at levels 2 to 8
inline constexpr Work of_a_library{};

struct Traits {
  bool threads_are_blocks = false;      // each thread of a process has a block of its own
  bool another_preconditioner = false;  // than the reference's: iterations and norms are its own
  bool coarse_in_32_bits = false;       // the coarser levels of the preconditioner
  bool needs_neighbours = false;        // it has no meaning with one block
  bool library = false;                 // a solver library's: neither residual nor communication is known
  Work work = one_pass;
};

struct Outcome {
  fl::Index iterations = 0;  // updates of x
  double rho[3] = {};        // r^T C^-1 r after `looked_at` updates
  double assembled = 0;      // seconds, where the matrix is made once, before all steps

  // To be called with r^T C^-1 r before each update.
  void see(double now) {
    for (std::size_t k = 0; k < 3; ++k)
      if (iterations == looked_at[k]) rho[k] = now;
  }
};

// What prepares the preconditioner before the first iteration; from the start vector to the tolerance; of that, exchanges and sums.
inline constexpr fl::Phases phases{"assembly", "setup", "solve", "communication"};

struct State {
  fl::Team team;
  Traits traits;
  fl::Index level = 0, digits = 6;
  bool manufactured = false;
  double g = 1;
  Cut cut;
  std::vector<Block> blocks;  // this process's
  std::vector<Grid> load;     // of each block where f is not 0, for g = 1; additive
  Outcome outcome;
};

inline constexpr fl::About about{
    .title = "Finite elements",
    .cost =
        "flop and bytes of the variant's own method per unknown and iteration (BPX: 25 flop, 56 bytes; V-cycle: 84 flop, 64 bytes), "
        "times the iterations of this method",
    .verified =
        "The solution at every node, the number of iterations, the preconditioned norms of three intermediate residuals, and the last"
        " residual, computed from element matrices",
    .tolerance =
        "Error: 30 times the requested reduction (V-cycle: 10 times), doubled for each level above 7. In 64 bit the iterations of the"
        " reference, norms to 1e-7; with coarser levels in 32 bit one iteration more or less, norms to 1e-5.",
    .phases = phases,
};

inline constexpr fl::Metric metrics[] = {
    {"time_to_tolerance", "s", "operations", "time", 1, "lower"},
    {"time_per_unknown_iteration", "ns", "time_per_unknown_iteration", "value", 1e9, "lower"},
    {"iterations", "iterations", "iterations", "value", 1, "lower"},
    {"assembly", "s", "assembly", "value", 1, "lower"},
    {"communication_share", "%", "communication_share", "value", 100, "lower"},
};

inline double unknowns(fl::Index level) {
  const auto side = static_cast<double>(cells(level + 1) + 1);
  return side * side;
}

inline int parties(const fl::Team& team, const Traits& traits) {
  return traits.threads_are_blocks ? team.ranks * team.threads : team.ranks;
}

inline std::string refuse(const Params& p, const fl::Team& team, const Traits& traits) {
  const int blocks = parties(team, traits);
  if (traits.needs_neighbours && blocks < 2) return "this variant of fem2d needs two blocks or more; start it with mpiexec -n 2";
  if (p.rows > 0 && blocks % p.rows != 0) return fl::text("fem2d needs rows=%lld to divide its %d blocks; omit rows", p.rows, blocks);
  if (traits.coarse_in_32_bits && p.digits > 7)
    return "this variant of fem2d supports at most digits=7: beyond that, 32-bit rounding adds iterations";
  const Cut c = cut(blocks, p.rows);
  if (c.base > p.level) return fl::text("fem2d needs level=%lld or more to be cut into %d x %d blocks", c.base, c.rows, c.columns);
  return "";
}

inline fl::Cost cost(const Params& p, const fl::Team& team, const Traits& traits) {
  const int iterations = traits.another_preconditioner ? v_cycle_iterations[p.level] : reference_iterations[p.level];
  const double updates = unknowns(p.level) * iterations * static_cast<double>(p.digits) / 6;
  return {.flops = traits.work.flops * updates,
          .bytes = traits.work.bytes * updates,
          .operations = 1,
          .working_set = traits.work.kept * unknowns(p.level) / team.ranks};
}

// --- set-up ------------------------------------------------------------------------------------------------------------

// All nodes that block and neighbour (dx, dy) away share on a grid of nx x ny cells.
inline Segment shared_side(Grid* g, Grid32* g32, fl::Index nx, fl::Index ny, int dx, int dy) {
  const fl::Index i = dx < 0 ? 0 : nx, j = dy < 0 ? 0 : ny;
  if (dx == 0) return {g, g32, 0, j, 1, 0, nx + 1};
  if (dy == 0) return {g, g32, i, 0, 0, 1, ny + 1};
  return {g, g32, i, j, 0, 0, 1};
}

// The block's own grids, finest last: those beyond `base`, and r.
template <class Visit>
void each_own_grid(Block& b, fl::Index base, Visit visit) {
  const auto first = static_cast<std::size_t>(base) + 1;
  for (std::size_t k = first; k < b.coarse.size(); ++k) visit(&b.coarse[k], nullptr, b.coarse[k].nx, b.coarse[k].ny);
  for (std::size_t k = first; k < b.coarse32.size(); ++k) visit(nullptr, &b.coarse32[k], b.coarse32[k].nx, b.coarse32[k].ny);
  visit(&b.r, nullptr, b.r.nx, b.r.ny);
}

inline void connect(Block& b, const Cut& c) {
  const int column = b.number % c.columns, row = b.number / c.columns;
  const auto inside = [&](int dx, int dy) { return column + dx >= 0 && column + dx < c.columns && row + dy >= 0 && row + dy < c.rows; };
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx) {
      if ((dx == 0 && dy == 0) || !inside(dx, dy)) continue;
      Link link;
      link.block = b.number + dy * c.columns + dx;
      fl::Index count = 0;
      each_own_grid(b, c.base, [&](Grid* g, Grid32* g32, fl::Index nx, fl::Index ny) {
        link.shared.push_back(shared_side(g, g32, nx, ny, dx, dy));
        count += link.shared.back().count;
      });
      link.out.resize(static_cast<std::size_t>(count));
      b.links.push_back(std::move(link));
    }
  fl::Index count = 0;
  each_own_grid(b, c.base, [&](Grid* g, Grid32* g32, fl::Index nx, fl::Index ny) {
    const bool low = inside(0, -1), high = inside(0, 1);
    if (low) b.frame.push_back(shared_side(g, g32, nx, ny, 0, -1));
    if (high) b.frame.push_back(shared_side(g, g32, nx, ny, 0, 1));
    for (const int dx : {-1, 1}) {
      if (!inside(dx, 0)) continue;
      Segment side = shared_side(g, g32, nx, ny, dx, 0);
      if (low) ++side.j, --side.count;
      if (high) --side.count;
      b.frame.push_back(side);
    }
  });
  for (const Segment& segment : b.frame) count += segment.count;
  b.own.resize(static_cast<std::size_t>(count));
}

inline Block make_block(int number, fl::Index level, const Cut& c, bool coarse_in_32_bits) {
  Block b;
  b.number = number;
  const int column = number % c.columns, row = number / c.columns;
  const fl::Index ci = c.line(column, c.columns), cj = c.line(row, c.rows);
  const fl::Index cx = c.line(column + 1, c.columns) - ci, cy = c.line(row + 1, c.rows) - cj;
  const auto refined = [&](fl::Index n, fl::Index k) { return n << (k - c.base); };
  b.i0 = refined(ci, level + 1);
  b.j0 = refined(cj, level + 1);
  b.bottom = !(b.south = row > 0);
  b.top = !(b.north = row < c.rows - 1);
  b.west = column > 0;
  b.east = column < c.columns - 1;
  const fl::Index nx = refined(cx, level + 1), ny = refined(cy, level + 1);
  b.x = Grid(nx, ny);
  b.r = Grid(nx, ny);
  b.s = Grid(nx, ny);
  for (fl::Index k = 0; k <= level; ++k) {
    const fl::Index columns = k <= c.base ? cells(k) : refined(cx, k), rows = k <= c.base ? cells(k) : refined(cy, k);
    if (coarse_in_32_bits)
      b.coarse32.emplace_back(columns, rows);
    else
      b.coarse.emplace_back(columns, rows);
  }
  return b;
}

// The pages of a block and its load lie near the thread that calls this.
inline void place(State& s, std::size_t k) {
  Block& b = s.blocks[k];
  for (Grid* g : {&b.x, &b.r, &b.s}) g->clear();
  for (Grid& g : b.coarse) g.clear();
  for (Grid32& g : b.coarse32) g.clear();
  if (s.manufactured) s.load[k].clear();
}

inline void init(State& s, const Params& p, const fl::Team& team, const Traits& traits) {
  s.team = team;
  s.traits = traits;
  s.level = p.level;
  s.digits = p.digits;
  s.manufactured = p.problem == "M";
  s.cut = cut(parties(team, traits), p.rows);
  const int here = parties(team, traits) / team.ranks;
  s.blocks.clear();
  for (int k = 0; k < here; ++k) s.blocks.push_back(make_block(team.rank * here + k, p.level, s.cut, traits.coarse_in_32_bits));
  s.load.clear();
  if (s.manufactured)
    for (const Block& b : s.blocks) s.load.emplace_back(b.x.nx, b.x.ny);
  fl::first_touch(&s);
  for (std::size_t k = 0; k < s.blocks.size(); ++k) {
    place(s, k);
    connect(s.blocks[k], s.cut);  // grids no longer move
    if (s.manufactured) load_vector(s.load[k], s.blocks[k], p.level);
  }
}

inline void mutate_inputs(State& s, fl::Index iteration) { s.g = fl::step_factor(iteration); }

inline void poison(State& s) {
  for (Block& b : s.blocks) fl::poison(b.x.memory().data(), b.x.memory().size());
  s.outcome = {};
}

}  // namespace fem2d

#ifdef FL_JUDGE
#include "judge.hpp"
#endif
