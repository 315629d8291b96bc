// Red-black order: cells of one colour side by side in memory. A half sweep then reads the coefficients of its own colour alone and
// computes no cell for nothing; in the order of the grid both half sweeps go through all cache lines.
//
// A row of n cells becomes two, of its even cells and of its odd ones. Cell i is at i / 2 among those of its parity, so neighbours
// to the south, north, bottom and top stand at the same place in the other colour's rows; to the west and east there or beside it.
#pragma once

#include "vector_rows.hpp"

namespace cfd {

// The cells of one colour. Places of a row that no cell has (up to a whole vector) have the equation x = 0: they may be computed, too.
template <class Real>
struct OneColour {
  SystemOf<Real> system;
  FieldOf<Real> x;

  explicit OneColour(const Point& size = {}) : x(halved(size), {1, 1, 1}) {
    for (auto& a : system.a) a = FieldOf<Real>(halved(size), {1, 1, 1});
    system.b = FieldOf<Real>(halved(size), {1, 1, 1});
  }
  // The row at (k, j) with what is beside it.
  void clear(Index k, Index j) {
    const grid::Layout<3>& layout = x.layout();
    const Index begin = layout({k, j, 0}) - layout.lead;
    for (auto& a : system.a) std::fill_n(a.data() + begin, layout.pitch, Real{0});
    std::fill_n(system.a[P].data() + begin, layout.pitch, Real{1});
    for (auto* field : {&system.b, &x}) std::fill_n(field->data() + begin, layout.pitch, Real{0});
  }

 private:
  static Point halved(Point size) {
    size[2] = (size[2] + 1) / 2;
    return size;
  }
};

template <class Real>
struct InRedBlackOrder {
  OneColour<Real> colours[2];  // red, black
  Point size{};

  InRedBlackOrder() = default;
  explicit InRedBlackOrder(const Point& size) : colours{OneColour<Real>(size), OneColour<Real>(size)}, size(size) {}

  // The number of the first cell of a colour in a row: 0 or 1.
  Index first(Index colour, Index k, Index j) const { return (colour + k + j) % 2; }

  // A row of the system in the order of the grid, and of x.
  void take(const RowsOf<Real>& m, const Real* from_x, Index k, Index j) {
    const Index from = m.at(k, j), red = first(0, k, j), pairs = size[2] / 2;
    OneColour<Real>&even = colours[red], &odd = colours[1 - red];  // the colours that have these cells
    const auto deal = [&](const Real* row, FieldOf<Real>& to_even, FieldOf<Real>& to_odd) {
      Real *evens = &to_even[{k, j, 0}], *odds = &to_odd[{k, j, 0}];
      FL_INDEPENDENT
      for (Index i = 0; i < pairs; ++i) evens[i] = row[2 * i], odds[i] = row[2 * i + 1];
      if (size[2] % 2 == 1) evens[pairs] = row[2 * pairs];
    };
    for (std::size_t place = P; place <= T; ++place) deal(m.a[place] + from, even.system.a[place], odd.system.a[place]);
    deal(m.b + from, even.system.b, odd.system.b);
    deal(from_x + from, even.x, odd.x);
  }
  // A row of x back into the order of the grid.
  void give(Real* row, Index k, Index j) {
    const Index red = first(0, k, j);
    const Real *evens = &colours[red].x[{k, j, 0}], *odds = &colours[1 - red].x[{k, j, 0}];
    for (Index i = 0; i < size[2]; ++i) row[i] = (i % 2 == 0 ? evens : odds)[i / 2];
  }
};

// What a half sweep of one colour works on.
template <class Real>
class HalfSweep {
 public:
  HalfSweep(InRedBlackOrder<Real>& all, Index colour)
      : m_(all.colours[colour].system),
        x_(all.colours[colour].x.view().origin),
        other_(all.colours[1 - colour].x.view().origin),
        cells_(all.size[2]),
        colour_(colour) {}

  // Solves the equations of the cells of the row at (k, j). Returns the sum of the |b - A x| that they had.
  Sums operator()(Index k, Index j) const {
    using L = Lanes<Real>;
    constexpr Index ahead = 32;  // elements
    const RowsOf<Real>& m = m_;
    const Index first = (colour_ + k + j) % 2, c = m.at(k, j), end = c + (cells_ - first + 1) / 2;
    Real* x = x_;
    const Real *other = other_, *west = other + first - 1, *east = other + first;
    typename L::V sum = {};
    for (Index i = c; i < end; i += L::count) {
      const auto a = [&](Place place) { return L::at(m.a[place] + i); };
      const auto of = [&](const Real* there) { return L::at(there + i); };
      const typename L::V r = of(m.b) - a(P) * of(x) - a(W) * of(west) - a(E) * of(east) - a(S) * of(other - m.south) -
                              a(N) * of(other + m.south) - a(B) * of(other - m.bottom) - a(T) * of(other + m.bottom);
      sum += L::magnitude(r);
      L::put(x + i, of(x) + r / a(P));
      for (const Real* coefficient : m.a) __builtin_prefetch(coefficient + i + ahead);
      VectorRows::prefetch(i + ahead, m.b, x, other + m.bottom);
    }
    return {L::total(sum)};
  }

 private:
  RowsOf<Real> m_;
  Real* x_;
  const Real* other_;
  Index cells_, colour_;
};

}  // namespace cfd
