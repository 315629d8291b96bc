// Grids of a sea whose coasts lie anywhere, each of cells twice as wide as those of the one before, and a V-cycle over them for
//
//   (w - s lap) x = b,     w: water in a cell, counted in cells of the finest grid; s: (a c)^2
//
// Fluxes pass faces that are open; of a coarse one as much as of the two it is made of, by half, for centres lie twice as far apart.
// Corrections are interpolated from the cell around and its next ones in both directions, where anything flows between them; residuals are
// gathered by the transpose of it; relaxation, before and after, is a polynomial of the matrix (two weighted sweeps, Chebyshev's for the
// upper three quarters of its eigenvalues): so the cycle is symmetric, as conjugate gradients want it, and no process or thread changes a
// bit of it.
//
// M. Khalil, P. Wesseling, Vertex-centered and cell-centered multigrid for interface problems, J. Comput. Phys. 98 (1992) 1.
#pragma once

#include "ocean_nlom.hpp"

namespace ocean_nlom {

using Cells = grid::Field<double, 3>;  // of one layer

// Processes have blocks of fine grids, and each all of a coarse one: where blocks would be narrower than halos, or cells few.
template <class Transport>
struct Level {
  static constexpr Index few = 256;  // cells

  grid::Block<3> block;
  bool shared = true;                 // processes have blocks
  Cells water, west, south;           // in a cell; through faces, 1 / m^2
  Cells inverse;                      // of the diagonal
  Cells x, y, b;                      // y: of a sweep, and what is left
  grid::Exchange<3, Transport> of_x;  // whatever is called x
  grid::Exchange<3, Transport> of_y;

  explicit Level(const grid::Block<3>& of) : block(of) {
    for (Cells* field : {&water, &west, &south, &inverse, &x, &y, &b}) {
      *field = Cells({1, block.size()[1], block.size()[2]}, {0, 2, 2});
      std::fill_n(field->data(), field->layout().elements, 0.0);
    }
  }
  bool single() const { return block.domain.extents[1] == 1 && block.domain.extents[2] == 1; }
  // What has such cells has of the next grid.
  static grid::Box<3> halved(grid::Box<3> box) {
    for (const std::size_t d : {1U, 2U}) box.lower[d] = (box.lower[d] + 1) / 2, box.upper[d] = (box.upper[d] + 1) / 2;
    return box;
  }
  double* line(Cells& field, Index j) const { return &field.view()(0, j, 0); }
};

template <class Transport, class Team>
class Levels {
 public:
  using Grid = Level<Transport>;

  // `masked`: as the sea is; else, as it is in a broken variant, as if there were no land. `coarse`: with more than the finest grid.
  void open(State& s, bool masked, bool coarse) {
    way_ = s.p.halo;
    for (int r = 0; r < s.team.ranks; ++r) owned_.push_back(flat({s.block.domain, s.block.ranks, r}).owned);
    add(flat(s.block), s.team.ranks > 1);
    Grid& fine = *grids_.front();
    grid::each_cell(fine.water.layout().with_halo(), [&](const grid::Point<3>& c) {
      const auto in = [&](Index back, Index left) {
        const Index j = c[1] - back + s.block.owned.lower[1], i = c[2] - left + s.block.owned.lower[2];
        return j >= 0 && j < s.p.ny && i >= 0 && i < s.p.nx;
      };
      const bool here = in(0, 0);
      fine.water[c] = masked ? s.wet[c] : here;
      fine.west[c] = (masked ? s.face_u[c] : here && in(0, 1)) / (s.p.dx() * s.p.dx());
      fine.south[c] = (masked ? s.face_v[c] : here && in(1, 0)) / (s.p.dy() * s.p.dy());
    });
    while (coarse && !grids_.back()->single()) coarsen();
  }
  void close() { grids_.clear(), owned_.clear(); }

  // Grids whose cells waves cross in a step; coarser ones add nothing.
  void prepare(const Params& p, double squared, const Team& team) {
    squared_ = squared, depth_ = 1;
    double crossed = 2 * squared * (1 / (p.dx() * p.dx()) + 1 / (p.dy() * p.dy()));
    for (; crossed > 0.25 && depth_ < grids_.size(); crossed /= 4) ++depth_;
    for (std::size_t n = 0; n < depth_; ++n) {
      Grid& g = *grids_[n];
      each_line(g, team, [&](Index j) {
        const double *w = g.line(g.water, j), *west = g.line(g.west, j), *south = g.line(g.south, j), *north = g.line(g.south, j + 1);
        double* inverse = g.line(g.inverse, j);
        for (Index i = 0; i < g.x.size()[2]; ++i)
          inverse[i] = w[i] > 0 ? 1 / (w[i] + squared * ((west[i] + west[i + 1]) + (south[i] + north[i]))) : 0;
      });
    }
  }
  // x of the finest grid, halos included, becomes about A^-1 b.
  void operator()(const Team& team) { cycle(0, team); }
  Grid& finest() { return *grids_.front(); }

  // A x at cell i of line j, of a field whose next cells are known.
  auto applied(Grid& g, Cells& field, Index j) const {
    const double *w = g.line(g.water, j), *west = g.line(g.west, j), *south = g.line(g.south, j), *north = g.line(g.south, j + 1);
    const double *x = g.line(field, j), *xs = g.line(field, j - 1), *xn = g.line(field, j + 1);
    return [=, squared = squared_](Index i) {
      const double across = west[i] * (x[i] - x[i - 1]) + west[i + 1] * (x[i] - x[i + 1]);
      const double along = south[i] * (x[i] - xs[i]) + north[i] * (x[i] - xn[i]);
      return w[i] * x[i] + squared * (across + along);
    };
  }
  template <class Line>
  static void each_line(const Grid& g, const Team& team, const Line& line) {
    lines({0, g.x.size()[1]}, team, line);
  }

 private:
  static constexpr double parts[2] = {0.5617, 1.389};  // 1 / (5/4 +- 3/4 cos(pi/4))

  template <class Line>
  static void lines(const fl::Part& of, const Team& team, const Line& line) {
    team([&](Index share, Index shares) {
      const fl::Part mine = fl::part(of.end - of.begin, shares, share);
      for (Index j = mine.begin; j < mine.end; ++j) line(of.begin + j);
    });
  }
  static grid::Block<3> flat(grid::Block<3> block) {
    block.domain.extents[0] = 1, block.owned.upper[0] = 1;
    return block;
  }
  void add(const grid::Block<3>& block, bool shared) {
    grids_.push_back(std::make_unique<Grid>(block));
    Grid& g = *grids_.back();
    g.shared = shared;
    if (!shared) return;
    g.of_x.open(block, {.reach = grid::Reach::edges}, grid::by<Transport>(way_), g.x);
    g.of_y.open(block, {.reach = grid::Reach::edges}, grid::by<Transport>(way_), g.y);
  }
  // Whether every process would have a block that is as wide as halos.
  bool divisible(const grid::Domain<3>& domain) const {
    return domain.extents[1] * domain.extents[2] >= Grid::few &&
           std::all_of(owned_.begin(), owned_.end(), [](const grid::Box<3>& box) { return box.size(1) >= 2 && box.size(2) >= 2; });
  }
  void coarsen() {
    Grid& fine = *grids_.back();
    grid::Block<3> block = fine.block;
    block.owned = Grid::halved(block.owned);
    for (grid::Box<3>& box : owned_) box = Grid::halved(box);
    for (const std::size_t d : {1U, 2U}) block.domain.extents[d] = (block.domain.extents[d] + 1) / 2;
    const grid::Box<3> mine = block.owned;
    const bool shared = fine.shared && divisible(block.domain);
    if (!shared) block.owned = {{}, block.domain.extents};
    add(block, shared);
    Grid& coarse = *grids_.back();
    grid::each_cell(mine, [&](const grid::Point<3>& g) {
      const grid::Point<3> c = grid::minus<3>(g, block.owned.lower);
      const grid::Point<3> f{0, 2 * g[1] - fine.block.owned.lower[1], 2 * g[2] - fine.block.owned.lower[2]};
      const grid::Point<3> east{0, f[1], f[2] + 1}, north{0, f[1] + 1, f[2]}, both{0, f[1] + 1, f[2] + 1};
      coarse.water[c] = fine.water[f] + fine.water[east] + fine.water[north] + fine.water[both];
      coarse.west[c] = (fine.west[f] + fine.west[north]) / 2;
      coarse.south[c] = (fine.south[f] + fine.south[east]) / 2;
    });
    for (Cells* field : {&coarse.water, &coarse.west, &coarse.south}) {
      if (fine.shared && !shared) gather(*field);
      if (!shared) continue;
      grid::Exchange<3, Transport> once;
      once.open(block, {.reach = grid::Reach::edges}, grid::by<Transport>(way_), *field);
      once();
    }
  }
  // Each process has its cells, and zeros.
  static void gather(Cells& field) { fl::add_up(field.data(), static_cast<int>(field.layout().elements)); }

  void cycle(std::size_t n, const Team& team) {
    Grid& g = *grids_[n];
    each_line(g, team, [&](Index j) {
      const double *inverse = g.line(g.inverse, j), *b = g.line(g.b, j), part = g.single() ? 1 : parts[0];
      double* x = g.line(g.x, j);
      for (Index i = 0; i < g.x.size()[2]; ++i) x[i] = part * inverse[i] * b[i];
    });
    if (g.single()) return;
    if (g.shared) g.of_x(team);
    sweep(g, parts[1], team);
    if (n + 1 == depth_) return;
    each_line(g, team, [&](Index j) {
      const auto product = applied(g, g.x, j);
      const double* b = g.line(g.b, j);
      double* rest = g.line(g.y, j);
      for (Index i = 0; i < g.x.size()[2]; ++i) rest[i] = b[i] - product(i);
    });
    if (g.shared) g.of_y(team);
    collect(g, *grids_[n + 1], team);
    cycle(n + 1, team);
    correct(*grids_[n + 1], g, team);
    if (g.shared) g.of_x(team);
    for (const double part : parts) sweep(g, part, team);
  }
  void sweep(Grid& g, double part, const Team& team) const {
    each_line(g, team, [&](Index j) {
      const auto product = applied(g, g.x, j);
      const double *x = g.line(g.x, j), *b = g.line(g.b, j), *inverse = g.line(g.inverse, j);
      double* y = g.line(g.y, j);
      for (Index i = 0; i < g.x.size()[2]; ++i) y[i] = x[i] + part * inverse[i] * (b[i] - product(i));
    });
    std::swap(g.x, g.y);
    if (g.shared) g.of_x(team);
  }
  // What is left of a grid becomes b of the next one.
  static void collect(Grid& fine, Grid& coarse, const Team& team) {
    const grid::Box<3> mine = Grid::halved(fine.block.owned);
    const bool gathers = fine.shared && !coarse.shared;
    if (gathers) std::fill_n(coarse.b.data(), coarse.b.layout().elements, 0.0);
    lines({mine.lower[1], mine.upper[1]}, team, [&](Index line) {
      const Index j = 2 * line - fine.block.owned.lower[1], to = line - coarse.block.owned.lower[1];
      const double *rs = fine.line(fine.y, j - 1), *r0 = fine.line(fine.y, j), *r1 = fine.line(fine.y, j + 1),
                   *rn = fine.line(fine.y, j + 2);
      const double *west = coarse.line(coarse.west, to), *south = coarse.line(coarse.south, to), *north = coarse.line(coarse.south, to + 1);
      double* b = coarse.line(coarse.b, to);
      for (Index column = mine.lower[2]; column < mine.upper[2]; ++column) {
        const Index i = 2 * column - fine.block.owned.lower[2], c = column - coarse.block.owned.lower[2];
        const auto both = [&](Index at) { return r0[at] + r1[at]; };
        const auto pair = [&](const double* row) { return row[i] + row[i + 1]; };
        const double across = both(west[c] > 0 ? i - 1 : i) + both(west[c + 1] > 0 ? i + 2 : i + 1);
        const double along = pair(south[c] > 0 ? rs : r0) + pair(north[c] > 0 ? rn : r1);
        b[c] = 0.5 * (both(i) + both(i + 1)) + 0.25 * (across + along);
      }
    });
    if (gathers) gather(coarse.b);
  }
  static void correct(Grid& coarse, Grid& fine, const Team& team) {
    each_line(fine, team, [&](Index j) {
      const Index line = j + fine.block.owned.lower[1], from = line / 2 - coarse.block.owned.lower[1];
      const bool upper = line % 2 != 0;
      const double *here = coarse.line(coarse.x, from), *next = coarse.line(coarse.x, upper ? from + 1 : from - 1);
      const double *west = coarse.line(coarse.west, from), *open = coarse.line(coarse.south, upper ? from + 1 : from);
      const double* w = fine.line(fine.water, j);
      double* x = fine.line(fine.x, j);
      for (Index i = 0; i < fine.x.size()[2]; ++i) {
        const Index column = i + fine.block.owned.lower[2], c = column / 2 - coarse.block.owned.lower[2], right = column % 2;
        const double beside = west[c + right] > 0 ? here[c - 1 + 2 * right] : here[c];
        if (w[i] > 0) x[i] += 0.5 * here[c] + 0.25 * (beside + (open[c] > 0 ? next[c] : here[c]));
      }
    });
  }

  std::vector<std::unique_ptr<Grid>> grids_;
  std::vector<grid::Box<3>> owned_;  // of all processes, on the last grid
  std::size_t depth_ = 1;
  grid::Way way_ = grid::Way::two_sided;  // of halos
  double squared_ = 0;
};

}  // namespace ocean_nlom
