// All states of a process's cells as one tall matrix: orthonormalised by blocks, turned to the eigenvectors of H in their space.
#pragma once

#include <cmath>

#include "jacobi.hpp"
#include "parties.hpp"
#include "products.hpp"

namespace rsdft {

template <class Products, class Parties, class Team>
class Subspace {
 public:
  Subspace(State& s, Parties& parties, const Team& team)
      : s_(s),
        parties_(parties),
        team_(team),
        n_(s.p.states),
        jacobi_(n_),
        turned_(s.states.size()),
        square_(static_cast<std::size_t>(n_ * n_)),
        parts_(static_cast<std::size_t>(n_ * n_ * s.team.threads)) {}

  // Gram-Schmidt: the first half, what the second half has of it taken off, the second half; twice, for once leaves what rounding did.
  void orthonormalise() {
    const fl::In in(phases("orthogonalise"));
    for (int time = 0; time < 2; ++time) orthonormalise(0, n_ / lanes);
  }

  // `products`: H times the states. The energies become their Ritz values, the states the vectors that belong to them.
  void turn(const fl::Array<double>& products) {
    inner(n_, n_, s_.states.data(), products.data());
    for (Index i = 0; i < n_; ++i)
      for (Index j = 0; j < n_; ++j) jacobi_.matrix()[i * n_ + j] = 0.5 * (square_[at(i, j)] + square_[at(j, i)]);
    jacobi_.solve();
    for (Index k = 0; k < n_; ++k) s_.energies[k] = jacobi_.value(k);
    each_share([&](fl::Part rows, Index) {
      std::fill_n(turned_.data() + rows.begin * n_, rows.size() * n_, 0.0);
      Products::outer(rows.size(), n_, n_, 1, {s_.states.data() + rows.begin * n_, n_}, {jacobi_.vectors(), n_},
                      {turned_.data() + rows.begin * n_, n_});
    });
    std::swap(s_.states, turned_);
  }

 private:
  std::size_t at(Index i, Index j) const { return static_cast<std::size_t>(i * n_ + j); }

  template <class Work>
  void each_share(const Work& work) {
    team_([&](Index share, Index shares) { work(fl::part(s_.cells.size(), shares, share), share); });
  }

  // square_ (m x n, rows of n_) = a^T b over the cells of all processes.
  void inner(Index m, Index n, const double* a, const double* b) {
    const Index size = n_ * n_;
    std::fill(parts_.begin(), parts_.end(), 0.0);
    each_share([&](fl::Part rows, Index share) {
      Products::inner(rows.size(), m, n, {a + rows.begin * n_, n_}, {b + rows.begin * n_, n_}, {parts_.data() + share * size, n_});
    });
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) {
        double sum = 0;
        for (Index share = 0; share < s_.team.threads; ++share) sum += parts_[static_cast<std::size_t>(share * size) + at(i, j)];
        square_[at(i, j)] = sum;
      }
    parties_.over_all(square_.data(), m * n_);
  }

  // Packs first ... last - 1 of states, without regard to those before.
  void orthonormalise(Index first, Index last) {
    if (last - first == 1) return pack(first * lanes);
    const Index middle = (first + last) / 2, left = first * lanes, right = middle * lanes, m = right - left, n = (last - middle) * lanes;
    orthonormalise(first, middle);
    inner(m, n, s_.states.data() + left, s_.states.data() + right);
    each_share([&](fl::Part rows, Index) {
      double* row = s_.states.data() + rows.begin * n_;
      Products::outer(rows.size(), m, n, -1, {row + left, n_}, {square_.data(), n_}, {row + right, n_});
    });
    orthonormalise(middle, last);
  }

  // Within a pack: P^T P = R^T R, and P R^-1 is orthonormal.
  void pack(Index first) {
    inner(lanes, lanes, s_.states.data() + first, s_.states.data() + first);
    double r[lanes][lanes] = {};
    for (Index i = 0; i < lanes; ++i) {
      for (Index j = i; j < lanes; ++j) {
        double sum = square_[at(i, j)];
        for (Index k = 0; k < i; ++k) sum -= r[k][i] * r[k][j];
        r[i][j] = i == j ? std::sqrt(sum) : sum / r[i][i];
      }
    }
    each_share([&](fl::Part rows, Index) {
      for (Index c = rows.begin; c < rows.end; ++c) {
        double* x = s_.states.data() + c * n_ + first;
        for (Index j = 0; j < lanes; ++j) {
          for (Index k = 0; k < j; ++k) x[j] -= x[k] * r[k][j];
          x[j] /= r[j][j];
        }
      }
    });
  }

  State& s_;
  Parties& parties_;
  Team team_;
  Index n_;
  Jacobi jacobi_;
  fl::Array<double> turned_;
  std::vector<double> square_, parts_;  // n x n; that of each thread
};

}  // namespace rsdft
