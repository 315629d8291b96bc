// An iteration goes as far along its direction as the one before should have gone.
#include "kernels/one_thread.hpp"

#include "firstlight/variant.hpp"

namespace {

template <class M>
struct Stale {
  cg::State& s;
  M& m;
  cg::Vectors& v;

  Stale(cg::State& state, M& party, cg::Vectors& vectors) : s(state), m(party), v(vectors) {}
  cg::Outcome solve() {
    const fl::Part own = m.own;
    double *x = s.x.data(), *r = v[0], *z = v[1], *p = v[2], *q = v[3];
    const auto dot = [&](const double* a, const double* b) {
      return cg::sums<1>(own, [=](fl::Index i) { return std::array{a[i] * b[i]}; })[0];
    };
    for (fl::Index i = own.begin; i < own.end; ++i) {
      x[i] = 0;
      r[i] = s.g * s.b[i];
    }
    m.precondition(r, z);
    std::copy(z, z + own.end, p);
    const double source = dot(r, r), goal = source * std::pow(10.0, -2 * static_cast<double>(s.p.digits));
    double gamma = dot(r, z), alpha = 0;
    fl::Index taken = 0;
    for (; dot(r, r) > goal && taken < 1000; ++taken) {
      m.multiply(p, q);
      const double now = gamma / dot(p, q), stale = taken == 0 ? now : alpha;
      alpha = now;
      for (fl::Index i = own.begin; i < own.end; ++i) {
        x[i] += stale * p[i];
        r[i] -= stale * q[i];
      }
      m.precondition(r, z);
      const double next = dot(r, z), beta = next / gamma;
      gamma = next;
      for (fl::Index i = own.begin; i < own.end; ++i) p[i] = z[i] + beta * p[i];
    }
    return {taken, std::sqrt(dot(r, r) / source)};
  }
};

using Step = cg::OneThread<cg::Alone, Stale>;

}  // namespace

FL_VARIANT(cg, Step)
