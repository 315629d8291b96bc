// Wrong on purpose: the operator lacks the vertices at distance two, -1/3 A_h of the identity that makes it quadratic.
#include "kernels/alone.hpp"
#include "kernels/solver.hpp"

namespace {

struct Linear {
  double apply_row(fl::Index j, const fem2d::Grid& s, double* q) const {
    double energy = 0;
    for (fl::Index i = 0; i <= s.nx; ++i) {
      const auto edge = [&](fl::Index x, fl::Index y, double weight) {
        return x < 0 || x > s.nx || y < 0 || y > s.ny ? 0 : weight * (s.at(i, j) - s.at(x, y));
      };
      const double along_x = j == 0 || j == s.ny ? 0.5 : 1, along_y = i == 0 || i == s.nx ? 0.5 : 1;
      q[i] = 4.0 / 3 * (edge(i - 1, j, along_x) + edge(i + 1, j, along_x) + edge(i, j - 1, along_y) + edge(i, j + 1, along_y));
      energy += q[i] * s.at(i, j);
    }
    return energy;
  }
};

void step(fem2d::State& s, fl::Index) {
  fem2d::Alone alone;
  fem2d::Grid q(s.blocks[0].s.nx, s.blocks[0].s.ny);
  s.outcome = fem2d::Solver<fem2d::Alone>(s, 0, alone).stored(Linear(), q);
}

}  // namespace

FL_VARIANT(fem2d, step)
