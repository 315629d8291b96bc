// Pairs of shells, made once for a geometry: primitive products, Schwarz bounds, sorted.
//
// A group contains pairs of one class (ss, ps, pp) and of one contraction depth, the largest bound first. So neighbours can be the lanes of
// a vector, or the threads of a warp, without one waiting for another; and what is left of a group for a bra is its beginning.
// Numbers are a structure of arrays: field f of pair k of a group is data[f * padded + k]. Behind the last pair come pairs of weight 0,
// up to a multiple of `Pairs::widest`.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "eri.hpp"
#include "shells.hpp"

namespace hartree_fock {

struct Group {
  int l = 0;  // functions of p in a pair
  int depth = 0;
  int size = 0, padded = 0;
  std::ptrdiff_t data = 0;     // where its fields begin
  std::ptrdiff_t pairs = 0;    // where what is one number a pair begins
  std::ptrdiff_t density = 0;  // where it begins in an array of components x padded of each group
};

// What a kernel reads of all pairs, on the host or copied to a device.
struct PairsView {
  const double* data;
  const double* bound;   // sqrt of the largest |(ab|ab)| of its components; 0 behind the last pair
  const double* weight;  // 1, 1/2 where both shells are the same, 0 behind the last pair
  const int* i;          // first function of either shell; the first has the p where there is one
  const int* j;

  FL_DEVICE PairView pair(const Group& group, int number) const { return {data + group.data + number, group.padded, group.depth}; }
};

namespace detail {

// The fields of one pair, one after the other.
struct PairRecord {
  int l, i, j, depth;
  double bound;
  bool same;
  double field[fields_of_pair + most_primitives * most_primitives * fields_of_primitive(2)];
};

// A product of primitives is left out whose integrals are below `negligible`, if the other side is of order 1, and that adds less than
// `unseen` to the bound of its pair: so the bounds are right for any threshold.
inline constexpr double negligible = 1e-16, unseen = 1e-11;

inline PairRecord pair_of(const Shell& a, const Shell& b) {
  PairRecord pair{.l = a.l + b.l, .i = a.first, .j = b.first, .depth = 0, .bound = 0, .same = a.first == b.first, .field = {}};
  double ab[3], square = 0;
  for (int d = 0; d < 3; ++d) ab[d] = a.centre[d] - b.centre[d], square += ab[d] * ab[d];
  for (int d = 0; d < 3; ++d) pair.field[d] = ab[d];
  const double root_two_pi = 5.9149671727956128778;  // sqrt(2) pi^(5/4): of each side, 2 pi^(5/2) together
  double scale[most_primitives][most_primitives], size[most_primitives][most_primitives], largest = 0;
  for (int k = 0; k < a.count; ++k)
    for (int m = 0; m < b.count; ++m) {
      const double e = a.exponent[k], f = b.exponent[m], p = e + f;
      const double c = scale[k][m] = root_two_pi / p * a.coefficient[k] * b.coefficient[m] * std::exp(-e * f / p * square);
      size[k][m] = std::fabs(c) * std::pow(std::sqrt(square) + std::sqrt(0.5 / p), pair.l) / std::pow(2 * p, 0.25);
      largest = std::max(largest, size[k][m]);
    }
  for (int k = 0; k < a.count; ++k)
    for (int m = 0; m < b.count; ++m) {
      if (size[k][m] < std::min(negligible, unseen * largest)) continue;
      const double e = a.exponent[k], f = b.exponent[m], p = e + f, half = 0.5 / p, c = scale[k][m];
      double* field = pair.field + fields_of_pair + pair.depth++ * fields_of_primitive(pair.l);
      *field++ = p;
      for (int d = 0; d < 3; ++d) *field++ = (e * a.centre[d] + f * b.centre[d]) / p;
      if (pair.l == 0) {
        field[0] = c;
      } else if (pair.l == 1) {
        field[0] = -c * f / p, field[1] = c * half;
      } else {
        field[0] = -c * e * f / (p * p), field[1] = c * half, field[2] = c * half * e / p, field[3] = -c * half * f / p;
        field[4] = c * half * half;
      }
    }
  return pair;
}

// Sqrt of the largest |(ab|ab)|. In vectors the pair meets itself in every lane: no use but that quartets have the same body, compiled once.
template <int l, class V>
double bound_of(const PairRecord& pair) {
  constexpr int n = components_of(l);
  std::array<V, std::size(PairRecord{}.field)> wide;
  for (int f = 0; f < fields_of_pair + pair.depth * fields_of_primitive(l); ++f) wide[f] = all<V>(pair.field[f]);
  V values[n * n];
  repulsion<l, l, double>(Boys::table().of<2 * l>(), {pair.field, 1, pair.depth},
                          {reinterpret_cast<const double*>(wide.data()), lanes<V>, pair.depth}, all<V>(1), values);
  double largest = 0;
  for (int c = 0; c < n; ++c) largest = std::max(largest, std::fabs(first_lane(values[c * n + c])));
  return std::sqrt(largest);
}

}  // namespace detail

class Pairs {
 public:
  static constexpr int widest = 8;  // lanes

  Pairs() = default;
  explicit Pairs(const std::vector<detail::PairRecord>& records) { arrange(records); }

  // V: of the kernels that take the quartets. Only (pp,pp) is large enough for one body to serve bounds, too.
  template <class V = double>
  static Pairs of(const std::vector<Shell>& shells) {
    return of<V>(shells, [](std::ptrdiff_t count, auto&& body) {
      for (std::ptrdiff_t k = 0; k < count; ++k) body(k);
    });
  }
  // each(count, body) calls body(0) to body(count - 1), by as many threads as it likes.
  template <class V, class Each>
  static Pairs of(const std::vector<Shell>& shells, Each each) {
    const auto count = static_cast<std::ptrdiff_t>(shells.size());
    std::vector<detail::PairRecord> records(static_cast<std::size_t>(count * (count + 1) / 2));
    each(count, [&](std::ptrdiff_t a) {
      for (std::ptrdiff_t b = 0; b <= a; ++b) {
        const bool turn = shells[a].l < shells[b].l;
        auto& pair = records[a * (a + 1) / 2 + b] = detail::pair_of(shells[turn ? b : a], shells[turn ? a : b]);
        pair.bound = pair.l == 0   ? detail::bound_of<0, double>(pair)
                     : pair.l == 1 ? detail::bound_of<1, double>(pair)
                                   : detail::bound_of<2, V>(pair);
      }
    });
    return Pairs(records);
  }

  const std::vector<Group>& groups() const { return groups_; }
  PairsView view() const { return {numbers(), bound_.data(), weight_.data(), i_.data(), j_.data()}; }

  // Sizes of what the view points to, and of an array with a place for each component of each pair.
  std::ptrdiff_t data_size() const { return static_cast<std::ptrdiff_t>(data_.size()) * widest; }
  std::ptrdiff_t pairs_size() const { return static_cast<std::ptrdiff_t>(bound_.size()); }
  std::ptrdiff_t density_size() const { return density_; }

  // How many pairs of `ket`, from its first, are not screened for pair `number` of `bra`: those with a product of bounds above tau. Of
  // the group itself only those up to the bra, so that each quartet comes once.
  int partners(const Group& bra, int number, const Group& ket, double tau) const {
    const double mine = bound_[bra.pairs + number];
    const double* bounds = bound_.data() + ket.pairs;
    const int most = bra.pairs == ket.pairs ? number + 1 : ket.size;
    return static_cast<int>(std::partition_point(bounds, bounds + most, [&](double bound) { return mine * bound > tau; }) - bounds);
  }

 private:
  struct alignas(64) Line {
    double number[widest];
  };

  void arrange(const std::vector<detail::PairRecord>& records) {
    std::vector<const detail::PairRecord*> order;
    for (const auto& record : records) order.push_back(&record);
    std::sort(order.begin(), order.end(), [](const auto* x, const auto* y) {
      if (x->l != y->l) return x->l < y->l;
      if (x->depth != y->depth) return x->depth < y->depth;
      return x->bound != y->bound ? x->bound > y->bound : x < y;
    });
    std::ptrdiff_t lines = 0, pairs = 0, density = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (groups_.empty() || groups_.back().l != order[k]->l || groups_.back().depth != order[k]->depth)
        groups_.push_back({.l = order[k]->l, .depth = order[k]->depth});
      ++groups_.back().size;
    }
    for (Group& group : groups_) {
      group.padded = (group.size + widest - 1) / widest * widest;
      group.data = lines * widest, group.pairs = pairs, group.density = density;
      lines += fields_of(group) * (group.padded / widest);
      pairs += group.padded, density += components_of(group.l) * group.padded;
    }
    density_ = density;
    data_.resize(static_cast<std::size_t>(lines));
    for (auto* numbers : {&bound_, &weight_}) numbers->resize(static_cast<std::size_t>(pairs));
    for (auto* numbers : {&i_, &j_}) numbers->resize(static_cast<std::size_t>(pairs));
    std::size_t next = 0;
    for (const Group& group : groups_)
      for (int k = 0; k < group.padded; ++k) {
        const detail::PairRecord& record = *order[k < group.size ? next++ : next - 1];
        put(group, k, record, k < group.size);
      }
  }

  static int fields_of(const Group& group) { return fields_of_pair + group.depth * fields_of_primitive(group.l); }
  const double* numbers() const { return data_.empty() ? nullptr : data_.front().number; }

  // Behind the last pair comes that pair again, with weight 0: no lane divides by zero.
  void put(const Group& group, int k, const detail::PairRecord& record, bool counts) {
    for (int f = 0; f < fields_of(group); ++f) {
      const std::ptrdiff_t at = group.data + static_cast<std::ptrdiff_t>(f) * group.padded + k;
      data_[at / widest].number[at % widest] = record.field[f];
    }
    bound_[group.pairs + k] = counts ? record.bound : 0;
    weight_[group.pairs + k] = counts ? record.same ? 0.5 : 1 : 0;
    i_[group.pairs + k] = record.i, j_[group.pairs + k] = record.j;
  }

  std::vector<Group> groups_;
  std::vector<Line> data_;
  std::vector<double> bound_, weight_;
  std::vector<int> i_, j_;
  std::ptrdiff_t density_ = 0;
};

}  // namespace hartree_fock
