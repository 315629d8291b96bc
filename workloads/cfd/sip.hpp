// Stone's strongly implicit procedure for seven coefficients: L U = A + N, where N is what L U has beyond the places of A, less `alpha` of
// what a smooth x would make of it. An iteration: L U q = b - A x, x += q.
//
// H. L. Stone, SIAM J. Numer. Anal. 5 (1968) 530; J. H. Ferziger, M. Peric, Computational Methods for Fluid Dynamics, section 5.3.
#pragma once

#include "firstlight/host_device.hpp"
#include "system.hpp"

namespace cfd {

// Rows of L times 1 / L_P, so that a cell waits for one multiplication of its western neighbour only; U as it is. Of 32 bits it still leads
// to the same x where what is to be corrected, b - A x, is of 64.
template <class Real>
struct SipFactorOf {
  FieldOf<Real> lw, ls, lb, lp, un, ue, ut;

  explicit SipFactorOf(const Point& size) {
    for (auto* field : {&lw, &ls, &lb, &lp, &un, &ue, &ut}) {
      *field = FieldOf<Real>(size, {1, 1, 1});
      std::fill_n(field->data(), field->layout().elements, Real{0});  // beyond the block nothing is coupled
    }
  }

  struct View {
    Real *lw, *ls, *lb, *lp, *un, *ue, *ut;  // of cell (0, 0, 0)
  };
  View view() {
    const auto origin = [](FieldOf<Real>& field) { return field.view().origin; };
    return {origin(lw), origin(ls), origin(lb), origin(lp), origin(un), origin(ue), origin(ut)};
  }
};
using SipFactor = SipFactorOf<double>;

// Computes cell (k, j, i) of the factor of the coupling within a block of this size. The cells below, to the south and to the west come
// first.
template <class Matrix, class View, class Size>
FL_DEVICE void factor_cell(const Matrix& m, const View& f, double alpha, const Size& size, Index k, Index j, Index i) {
  const Index c = k * m.bottom + j * m.south + i, w = c - 1, s = c - m.south, b = c - m.bottom;
  using Number = std::remove_cvref_t<decltype(*m.b)>;  // of the matrix
  const auto share = static_cast<Number>(alpha);
  const Number lb = k > 0 ? m.a[B][c] / (1 + share * (f.un[b] + f.ue[b])) : 0;
  const Number lw = i > 0 ? m.a[W][c] / (1 + share * (f.un[w] + f.ut[w])) : 0;
  const Number ls = j > 0 ? m.a[S][c] / (1 + share * (f.ue[s] + f.ut[s])) : 0;
  const Number p1 = share * (lb * f.un[b] + lw * f.un[w]), p2 = share * (lb * f.ue[b] + ls * f.ue[s]),
               p3 = share * (lw * f.ut[w] + ls * f.ut[s]);
  const Number lp = 1 / (m.a[P][c] + p1 + p2 + p3 - lb * f.ut[b] - lw * f.ue[w] - ls * f.un[s]);
  f.lp[c] = lp;
  f.lw[c] = lw * lp, f.ls[c] = ls * lp, f.lb[c] = lb * lp;
  f.un[c] = ((j + 1 < size[1] ? m.a[N][c] : 0) - p1) * lp;
  f.ue[c] = ((i + 1 < size[2] ? m.a[E][c] : 0) - p2) * lp;
  f.ut[c] = ((k + 1 < size[0] ? m.a[T][c] : 0) - p3) * lp;
}

// Row j of plane k; cells in lexicographic order.
template <class Real, class View>
void factor_row(const RowsOf<Real>& m, const View& f, double alpha, const Point& size, Index k, Index j) {
  for (Index i = 0; i < size[2]; ++i) factor_cell(m, f, alpha, size, k, j, i);
}

}  // namespace cfd
