// The bottom of the V-cycle.
#pragma once

#include <cmath>

#include "grid.hpp"

namespace fem2d {

// The 7 x 9 free nodes of the coarsest level, solved exactly by a Cholesky factor in a band of one row of nodes.
class Coarsest {
 public:
  Coarsest() : factor_(static_cast<std::size_t>(count) * (band + 1), 0.0) {
    for (int k = 0; k < count; ++k) {
      const int i = k % side;
      const bool edge = i == 0 || i == side - 1;
      at(k, k) = edge ? 2 : 4;
      if (i > 0) at(k, k - 1) = -1;
      if (k >= side) at(k, k - side) = edge ? -0.5 : -1;
    }
    for (int k = 0; k < count; ++k)
      for (int m = std::max(0, k - band); m <= k; ++m) {
        double sum = at(k, m);
        for (int p = std::max(0, k - band); p < m; ++p)
          if (m - p <= band) sum -= at(k, p) * at(m, p);
        at(k, m) = m == k ? std::sqrt(sum) : sum / at(m, m);
      }
  }

  void solve(const Grid& r, Grid& z) {
    std::vector<double> v(static_cast<std::size_t>(count));
    const auto place = [](auto& g, int k) -> auto& { return g.row(1 + k / side)[k % side]; };
    for (int k = 0; k < count; ++k) {
      double sum = place(r, k);
      for (int m = std::max(0, k - band); m < k; ++m) sum -= at(k, m) * v[static_cast<std::size_t>(m)];
      v[static_cast<std::size_t>(k)] = sum / at(k, k);
    }
    for (int k = count - 1; k >= 0; --k) {
      double sum = v[static_cast<std::size_t>(k)];
      for (int m = k + 1; m <= std::min(count - 1, k + band); ++m) sum -= at(m, k) * v[static_cast<std::size_t>(m)];
      v[static_cast<std::size_t>(k)] = sum / at(k, k);
    }
    z.clear();
    for (int k = 0; k < count; ++k) place(z, k) = v[static_cast<std::size_t>(k)];
  }

 private:
  static constexpr int side = coarse_cells + 1, count = side * (coarse_cells - 1), band = side;
  double& at(int k, int m) { return factor_[static_cast<std::size_t>(k * (band + 1) + k - m)]; }
  std::vector<double> factor_;
};

}  // namespace fem2d
