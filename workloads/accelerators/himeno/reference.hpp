// What p and GOSA have to be: plain sweeps in any precision, and GOSA of the benchmark's own inputs by their symmetry.
#pragma once

#include <vector>

#include "inputs.hpp"

namespace himeno {

// A run on what this rank has and on as much around it as its values depend on; inputs are computed, not read.
template <class Real>
class Replay {
 public:
  // With the sources of `ages`, from p times `scale`.
  Replay(const State& s, const fl::ChangeLog& ages, float scale)
      : problem_(s.params.problem), domain_{{}, s.block.domain.extents}, ages_(ages), block_(s.block) {
    const Index sweeps = s.params.sweeps;
    kept_ = grid::intersection(block_.owned.grown(grid::all<3>(sweeps)), domain_.grown({1, 1, 1}));
    for (auto* field : {&p_, &next_}) {
      *field = fl::Array<Real>(kept_.cells());
      grid::each_cell(kept_, [&](const Point& x) { (*field)[at(x)] = scale * start(problem_, domain_.upper, x); });
    }
    for (Index left = sweeps; left-- > 0; std::swap(p_, next_)) {
      gosa_ = 0;
      grid::each_row(grid::intersection(block_.owned.grown(grid::all<3>(left)), domain_), [&](const Point& x, Index count) {
        const auto first = static_cast<Index>(block_.number(x));
        if (problem_ == Problem::official && !ages_.any_in(first, first + count))
          simple_row(x, count);
        else
          for (Index k = 0; k < count; ++k) update({x[0], x[1], x[2] + k}, first + k);
      });
    }
  }

  double p(const Point& global) const { return static_cast<double>(p_[at(global)]); }
  // Returns the sum over the points of this rank, in this precision and in the order of memory.
  Real gosa() const { return gosa_; }

 private:
  Index at(const Point& x) const {
    const Point y = grid::minus<3>(x, kept_.lower);
    return (y[0] * kept_.size(1) + y[1]) * kept_.size(2) + y[2];
  }
  Real old(Index i, Index j, Index k) const { return p_[at({i, j, k})]; }

  void update(const Point& x, Index number) {
    const auto [i, j, k] = x;
    const auto in = [&](Coefficient which) -> Real { return value(problem_, which, number); };
    using enum Coefficient;
    const Index changed = ages_.of(number, -1);
    const Real w = changed >= 0 ? source(number, changed) : value(problem_, wrk1, number);
    const Real across_ij = old(i + 1, j + 1, k) - old(i + 1, j - 1, k) - old(i - 1, j + 1, k) + old(i - 1, j - 1, k);
    const Real across_jk = old(i, j + 1, k + 1) - old(i, j - 1, k + 1) - old(i, j + 1, k - 1) + old(i, j - 1, k - 1);
    const Real across_ik = old(i + 1, j, k + 1) - old(i - 1, j, k + 1) - old(i + 1, j, k - 1) + old(i - 1, j, k - 1);
    const Real ahead = in(a0)*old(i + 1, j, k) + in(a1)*old(i, j + 1, k) + in(a2)*old(i, j, k + 1);
    const Real behind = in(c0)*old(i - 1, j, k) + in(c1)*old(i, j - 1, k) + in(c2)*old(i, j, k - 1);
    const Real s0 = ahead + in(b0)*across_ij + in(b1)*across_jk + in(b2)*across_ik + behind + w;
    const Real ss = (s0 * in(a3)-old(i, j, k)) * in(bnd);
    next_[at(x)] = old(i, j, k) + static_cast<Real>(0.8f) * ss;
    if (block_.owned.contains(x)) gosa_ += ss * ss;
  }

  // The benchmark's coefficients are 1 and 0, except for one; in its order of operations, for the sake of 32 bits.
  void simple_row(const Point& x, Index count) {
    const Index plane = kept_.size(1) * kept_.size(2), row = kept_.size(2);
    const Real* p = &p_[at(x)];
    Real* out = &next_[at(x)];
    const Real sixth = value(Problem::official, Coefficient::a3, 0);
    const bool mine =
        x[0] >= block_.owned.lower[0] && x[0] < block_.owned.upper[0] && x[1] >= block_.owned.lower[1] && x[1] < block_.owned.upper[1];
    const Index begin = mine ? block_.owned.lower[2] - x[2] : count, end = mine ? block_.owned.upper[2] - x[2] : count;
    for (Index k = 0; k < count; ++k) {
      const Real s0 = p[k + plane] + p[k + row] + p[k + 1] + p[k - plane] + p[k - row] + p[k - 1];
      const Real ss = s0 * sixth - p[k];
      if (k >= begin && k < end) gosa_ += ss * ss;
      out[k] = p[k] + static_cast<Real>(0.8f) * ss;
    }
  }

  Problem problem_;
  grid::Box<3> domain_, kept_;  // in global coordinates
  const fl::ChangeLog& ages_;
  const grid::Block<3>& block_;
  fl::Array<Real> p_, next_;
  Real gosa_ = 0;
};

// GOSA after so many sweeps of the benchmark in real numbers. p starts as a square of i, so what is added to it is the same from wall to
// wall in all directions, and beyond as many points as there are sweeps it knows of no wall: one point stands for all of these.
inline double by_symmetry(const Point& extents, Index sweeps) {
  Point size{};
  for (std::size_t d = 0; d < 3; ++d) size[d] = std::min(extents[d], 2 * sweeps + 1);
  const grid::Layout<3> layout(size, {1, 1, 1}, 1);
  std::vector<double> added(static_cast<std::size_t>(layout.elements)), next(added);
  const double last = static_cast<double>(extents[0] + 1), constant = 1 / (3 * last * last);
  double gosa = 0;
  for (Index t = 0; t < sweeps; ++t, std::swap(added, next)) {
    gosa = 0;
    grid::each_cell(layout.owned(), [&](const Point& x) {
      const double* u = added.data() + layout(x);
      double around = 0, many = 1;
      for (std::size_t d = 0; d < 3; ++d) {
        around += u[layout.stride[d]] + u[-layout.stride[d]];
        if (x[d] == sweeps && extents[d] > size[d]) many *= static_cast<double>(extents[d] - 2 * sweeps);
      }
      const double ss = around / 6 - *u + constant;
      gosa += many * ss * ss;
      next[static_cast<std::size_t>(layout(x))] = *u + 0.8 * ss;
    });
  }
  return gosa;
}

}  // namespace himeno
