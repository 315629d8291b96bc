// Properties of the operator on fields that no workload has: free ones, gauge transforms, two spinors. For test_dirac.py.
#include <numbers>
#include <vector>

#include "scalar.hpp"
#include "site.hpp"
#include "virtual_nodes.hpp"

namespace {

using namespace lqcd;

enum Kind { scalar, within_site, virtual_nodes };

// A block, its links from Fields, and D or Dhat of the layout at hand.
template <class T>
class Operator {
 public:
  template <class Fields>
  Operator(Kind kind, const Fields& fields)
      : kind_(kind),
        layout_(Lattice::whole(fields.global), kind == virtual_nodes ? lanes<T> : 1),
        links_(static_cast<std::size_t>(layout_.links_size())) {
    layout_.colours_outside = kind == within_site;
    fill_links(links_.data(), layout_, fields);
  }

  template <class Psi>
  std::vector<T> field(Psi psi) const {
    std::vector<T> values(static_cast<std::size_t>(layout_.spinor_size()));
    each_site(layout_.lattice.local, [&](const Extents& x) { put_spinor(values.data(), layout_, x, psi(x)); });
    return values;
  }
  Spinor at(const std::vector<T>& values, const Extents& x) const { return get_spinor(values.data(), layout_, x); }
  const Extents& extents() const { return layout_.lattice.local; }

  std::vector<T> d(const std::vector<T>& psi) const {
    std::vector<T> out(psi.size());
    hop(psi, out, 0, &psi, 4 + mass, -0.5);
    hop(psi, out, 1, &psi, 4 + mass, -0.5);
    return out;
  }
  std::vector<T> dhat(const std::vector<T>& psi) const {  // the odd sites of the result are 0
    std::vector<T> odd(psi.size()), out(psi.size());
    hop(psi, odd, 1, nullptr, 0, -0.5);
    hop(odd, out, 0, &psi, 4 + mass, 0.5 / (4 + mass));
    return out;
  }

 private:
  void hop(const std::vector<T>& psi, std::vector<T>& out, int target, const std::vector<T>* centre, double a, double b) const {
    const auto part = [&](auto& values, int parity) { return values.data() + layout_.parity_offset(parity); };
    const T* middle = centre == nullptr ? nullptr : part(*centre, target);
    const T* from = part(psi, 1 - target);
    T* to = part(out, target);
    if (kind_ == scalar) return scalar_hop<Rules>(layout_, target, links_.data(), from, middle, to, T(a), T(b));
    if (kind_ == within_site) return site_hop(layout_, target, links_.data(), from, middle, to, T(a), T(b));
    Hop<T> job{&layout_, links_.data()};
    job.psi[1 - target] = from;
    job.centre[target] = middle;
    job.out[target] = to;
    job.a = T(a);
    job.b = T(b);
    const std::vector<Run> sites = runs(layout_, target == 0 ? even : odd);
    if (centre == nullptr)
      lqcd::hop<false>(job, sites);
    else
      lqcd::hop<true>(job, sites);
  }

  Kind kind_;
  Layout layout_;
  std::vector<T> links_;
};

// body(T()) in the requested precision
template <class Body>
double in_precision(int bits, Body body) {
  return bits == 32 ? body(float()) : body(double());
}

double size(const Spinor& psi) { return std::sqrt(dot(psi, psi).re); }

Spinor g5(Spinor psi) {
  for (std::size_t s = 2; s < 4; ++s)
    for (Complex& z : psi[s]) z = {-z.re, -z.im};
  return psi;
}

struct FreeFields : GivenFields {
  Matrix link(const Extents&, std::size_t) const {
    Matrix u{};
    for (std::size_t c = 0; c < 3; ++c) u[c][c] = {1, 0};
    return u;
  }
};

// U -> g(x) U g(x+mu)^+, psi -> g psi
struct TransformedFields : GivenFields {
  Matrix g(const Extents& x) const { return lqcd::link(number(x, global) + product(global), 2); }
  Matrix link(const Extents& x, std::size_t mu) const {
    Extents next = x;
    move(next, mu, 1);
    const Matrix left = g(x), right = g(next), u = lqcd::link(number(x, global), mu);
    Matrix result;
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        for (std::size_t a = 0; a < 3; ++a)
          for (std::size_t b = 0; b < 3; ++b) result[i][j] += left[i][a] * u[a][b] * conj(right[j][b]);
    return result;
  }
};

}  // namespace

// |<chi, g5 D psi> - conj(<psi, g5 D chi>)| by their size
extern "C" double hermiticity(int kind, int bits, int hat, int antiperiodic, const long long* extents) {
  return in_precision(bits, [&]<class T>(T) {
    const GivenFields given{{extents[0], extents[1], extents[2], extents[3]}, antiperiodic != 0};
    const Operator<T> op(static_cast<Kind>(kind), given);
    const auto even_only = [&](const Extents& x, int which) { return hat != 0 && parity(x) == 1 ? Spinor{} : given.spinor(x, which); };
    const auto psi = op.field([&](const Extents& x) { return even_only(x, 0); });
    const auto chi = op.field([&](const Extents& x) { return even_only(x, 1); });
    const auto d_psi = hat != 0 ? op.dhat(psi) : op.d(psi), d_chi = hat != 0 ? op.dhat(chi) : op.d(chi);
    Complex first, second;
    double all = 0;
    each_site(op.extents(), [&](const Extents& x) {
      first += dot(op.at(chi, x), g5(op.at(d_psi, x)));
      second += dot(op.at(psi, x), g5(op.at(d_chi, x)));
      all += size(op.at(chi, x)) * size(op.at(d_psi, x));
    });
    return std::sqrt(norm(first - conj(second))) / all;
  });
}

// The largest |D' g psi - g D psi| of a site
extern "C" double covariance(int kind, int bits, int antiperiodic, const long long* extents) {
  return in_precision(bits, [&]<class T>(T) {
    const GivenFields given{{extents[0], extents[1], extents[2], extents[3]}, antiperiodic != 0};
    const TransformedFields transformed{given};
    const Operator<T> op(static_cast<Kind>(kind), given), other(static_cast<Kind>(kind), transformed);
    const auto result = op.d(op.field([&](const Extents& x) { return given.spinor(x); }));
    const auto moved = other.d(other.field([&](const Extents& x) { return times(transformed.g(x), given.spinor(x), false); }));
    double worst = 0;
    each_site(op.extents(), [&](const Extents& x) {
      const double error = size(combine(1, times(transformed.g(x), op.at(result, x), false), -1, other.at(moved, x)));
      if (!(error <= worst)) worst = error;
    });
    return worst;
  });
}

// The largest |(D - re)^2 psi + im^2 psi| of a site, psi a plane wave with n[mu] periods: 0 where re +- i im are its eigenvalues
extern "C" double free_field(int kind, int bits, const long long* extents, const long long* n, double re, double im) {
  return in_precision(bits, [&]<class T>(T) {
    const FreeFields free{{{extents[0], extents[1], extents[2], extents[3]}, false}};
    const Operator<T> op(static_cast<Kind>(kind), free);
    const auto psi = op.field([&](const Extents& x) {
      double phase = 0;
      for (std::size_t mu = 0; mu < 4; ++mu)
        phase += 2 * std::numbers::pi * static_cast<double>(n[mu] * x[mu]) / static_cast<double>(extents[mu]);
      Spinor wave = lqcd::spinor(0);
      for (Row& row : wave)
        for (Complex& z : row) z = Complex{std::cos(phase), std::sin(phase)} * z;
      return wave;
    });
    const auto without_re = [&](const std::vector<T>& field) {
      auto result = op.d(field);
      for (std::size_t k = 0; k < result.size(); ++k) result[k] -= static_cast<T>(re) * field[k];
      return result;
    };
    const auto twice = without_re(without_re(psi));
    double worst = 0;
    each_site(op.extents(), [&](const Extents& x) {
      const double error = size(combine(1, op.at(twice, x), im * im, op.at(psi, x)));
      if (!(error <= worst)) worst = error;
    });
    return worst;
  });
}
