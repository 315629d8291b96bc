// Rows whose cells find their neighbours by number, as R2's program does, which knows nothing of a structured grid: neighbour[6][cell], 32 bits.
#pragma once

#include "plain_rows.hpp"

namespace cfd::inline FL_ROLE {

class IndirectRows : public PlainRows {
 public:
  // Numbers count from cell (0, 0, 0) of the block.
  void open(const Field& field) {
    const auto& layout = field.layout();
    first_ = layout.first;
    for (std::size_t place = W; place <= T; ++place) {
      const auto [d, step] = side_of(place);
      auto& numbers = neighbours_[place];
      numbers = fl::Array<std::int32_t>(layout.elements);
      std::fill_n(numbers.data(), layout.elements, 0);
      grid::each_cell(layout.owned(), [&, d = d, step = step](const Point& x) {
        numbers[layout(x)] = static_cast<std::int32_t>(layout.distance(x) + step * layout.stride[d]);
      });
    }
  }

  Sums sip_forward(const Rows& m, const SipFactor::View& f, const double* x, double* q, Index c, Index n) const {
    const std::int32_t *w = numbers(W), *s = numbers(S), *b = numbers(B);
    Sums sums;
    for (const Index end = c + n; c < end; ++c) {
      const double r = m.b[c] - product_at(m, x, c);
      sums.first += std::fabs(r);
      q[c] = r * f.lp[c] - f.lb[c] * q[b[c]] - f.ls[c] * q[s[c]] - f.lw[c] * q[w[c]];
    }
    return sums;
  }
  void sip_backward(const Rows&, const SipFactor::View& f, double* x, double* q, Index c, Index n) const {
    const std::int32_t *e = numbers(E), *north = numbers(N), *t = numbers(T);
    for (Index at = c + n; at-- > c;) {
      q[at] = q[at] - f.ut[at] * q[t[at]] - f.un[at] * q[north[at]] - f.ue[at] * q[e[at]];
      x[at] += q[at];
    }
  }
  Sums relax(const Rows& m, double* x, Index c, Index n, Index first, bool /*cached*/) const {
    Sums sums;
    for (Index at = c + first; at < c + n; at += 2) {
      const double r = m.b[at] - product_at(m, x, at);
      sums.first += std::fabs(r);
      x[at] += r / m.a[P][at];
    }
    return sums;
  }
  Sums product(const Rows& m, const double* p, double* q, Index c, Index n) const {
    Sums sums;
    for (const Index end = c + n; c < end; ++c) {
      q[c] = product_at(m, p, c);
      sums.first += p[c] * q[c];
    }
    return sums;
  }
  void ic_forward(const Rows& m, const double* inverse, const double* r, double* z, Index c, Index n) const {
    const std::int32_t *w = numbers(W), *s = numbers(S), *b = numbers(B);
    for (const Index end = c + n; c < end; ++c)
      z[c] = (r[c] - m.a[B][c] * z[b[c]] - m.a[S][c] * z[s[c]] - m.a[W][c] * z[w[c]]) * inverse[c];
  }
  Sums ic_backward(const Rows& m, const double* inverse, const double* r, double* z, Index c, Index n) const {
    const std::int32_t *e = numbers(E), *north = numbers(N), *t = numbers(T);
    Sums sums;
    for (Index at = c + n; at-- > c;) {
      z[at] = z[at] - (m.a[T][at] * z[t[at]] + m.a[N][at] * z[north[at]] + m.a[E][at] * z[e[at]]) * inverse[at];
      sums.first += r[at] * z[at];
    }
    return sums;
  }

 private:
  const std::int32_t* numbers(std::size_t place) const { return neighbours_[place].data() + first_; }
  double product_at(const Rows& m, const double* x, Index c) const {
    double sum = m.a[P][c] * x[c];
    for (std::size_t place = W; place <= T; ++place) sum += m.a[place][c] * x[numbers(place)[c]];
    return sum;
  }

  std::array<fl::Array<std::int32_t>, 7> neighbours_;
  Index first_ = 0;
};

}  // namespace cfd::inline FL_ROLE
