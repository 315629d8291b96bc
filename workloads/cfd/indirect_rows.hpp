// Rows whose cells find their neighbours by number (neighbours.hpp).
#pragma once

#include "neighbours.hpp"
#include "plain_rows.hpp"

namespace cfd {

class IndirectRows : public PlainRows {
 public:
  void open(const Field& field) { neighbours_.open(field.layout()); }
  const std::int32_t* numbers(std::size_t place) const { return neighbours_[place]; }

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
  double product_at(const Rows& m, const double* x, Index c) const {
    double sum = m.a[P][c] * x[c];
    for (std::size_t place = W; place <= T; ++place) sum += m.a[place][c] * x[numbers(place)[c]];
    return sum;
  }

  Neighbours neighbours_;
};

}  // namespace cfd
