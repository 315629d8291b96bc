// Linear algebra on spinor fields of any layout: a field is a plain array of `length` reals in which blocks of W real parts and of
// W imaginary parts alternate (W = 1: complex numbers), 24 blocks a site, the upper spins first. Every sum is taken in chunks of one size, in their order and in 64 bits, so
// that it does not depend on how many threads take part.
#pragma once

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "fields.hpp"
#include "firstlight/simd.hpp"

namespace lqcd {

template <class Real>
using Field = fl::Array<Real>;

inline Complex operator-(Complex a) { return {-a.re, -a.im}; }
inline Complex operator/(Complex a, Complex b) { return (1 / norm(b)) * (a * conj(b)); }

// W lanes of a real or an imaginary part.
template <class Real, int W>
struct PartOf {
  typedef Real type __attribute__((vector_size(W * sizeof(Real))));
};
template <class Real>
struct PartOf<Real, 1> {
  using type = Real;
};

// Adds the partial sums of all processes; null where there is one.
using Reduce = void (*)(double* sums, int count);

template <class Real, int W>
class Algebra {
 public:
  // `parities` that a field holds, one after the other: threads take parts of each, as where they hop.
  Algebra(fl::Index length, int threads, Reduce reduce = nullptr, int parities = 1)
      : length_(length),
        threads_(threads),
        reduce_(reduce),
        in_turn_(threads > 1 && parities == 2),
        parts_(static_cast<std::size_t>((length + chunk - 1) / chunk)) {}

  fl::Index length() const { return length_; }
  Field<Real> field() const { return Field<Real>(length_); }

  void zero(Field<Real>& x) {
    Real* px = x.data();
    each([=](fl::Index i) { store(px + i, V{}); });
  }

  template <class From>
  void copy(Field<Real>& x, const Field<From>& from) {
    copy(x.data(), from.data());
  }
  template <class From>
  void copy(Real* x, const From* from) {
    chunks([=](fl::Index first, fl::Index last, std::size_t) {
      FL_INDEPENDENT
      for (fl::Index i = first; i < last; ++i) x[i] = static_cast<Real>(from[i]);
    });
  }

  // x += from, and from = 0: what a lower precision has gathered
  template <class From>
  void take(Field<Real>& x, Field<From>& from) {
    Real* px = x.data();
    From* pf = from.data();
    chunks([=](fl::Index first, fl::Index last, std::size_t) {
      FL_INDEPENDENT
      for (fl::Index i = first; i < last; ++i) {
        px[i] += static_cast<Real>(pf[i]);
        pf[i] = 0;
      }
    });
  }

  double norm2(const Field<Real>& x) {
    const Real* px = x.data();
    return sum([=](fl::Index i) {
      const V v = load(px + i);
      return v * v;
    });
  }

  double dot(const Field<Real>& x, const Field<Real>& y) {
    const Real *px = x.data(), *py = y.data();
    return sum([=](fl::Index i) { return load(px + i) * load(py + i); });
  }

  // x += a y
  void axpy(double a, const Field<Real>& y, Field<Real>& x) {
    const Real* py = y.data();
    Real* px = x.data();
    const V va = splat(a);
    each([=](fl::Index i) { store(px + i, load(px + i) + va * load(py + i)); });
  }

  // x += a y, and |x|^2
  double axpy_norm2(double a, const Field<Real>& y, Field<Real>& x) {
    const Real* py = y.data();
    Real* px = x.data();
    const V va = splat(a);
    return sum([=](fl::Index i) {
      const V v = load(px + i) + va * load(py + i);
      store(px + i, v);
      return v * v;
    });
  }

  // x = y - x, and |x|^2
  double subtract_from(const Field<Real>& y, Field<Real>& x) {
    const Real* py = y.data();
    Real* px = x.data();
    return sum([=](fl::Index i) {
      const V v = load(py + i) - load(px + i);
      store(px + i, v);
      return v * v;
    });
  }

  // x = a x + b y
  void combine(double a, Field<Real>& x, double b, const Field<Real>& y) {
    const Real* py = y.data();
    Real* px = x.data();
    const V va = splat(a), vb = splat(b);
    each([=](fl::Index i) { store(px + i, va * load(px + i) + vb * load(py + i)); });
  }

  // r += a g_5 q, and |r|^2
  double turned_axpy_norm2(double a, const Field<Real>& q, Field<Real>& r) {
    const Real* pq = q.data();
    Real* pr = r.data();
    return turned_sum([=](fl::Index i, Real sign) {
      const S v = from(pr + i) + static_cast<Real>(a) * sign * from(pq + i);
      fl::simd::store(pr + i, v);
      return v * v;
    });
  }

  // x += a p, then p = g_5 r + b p
  void turned_advance(Field<Real>& x, double a, Field<Real>& p, const Field<Real>& r, double b) {
    const Real* pr = r.data();
    Real *px = x.data(), *pp = p.data();
    const auto ra = static_cast<Real>(a), rb = static_cast<Real>(b);
    turned([=](fl::Index i, Real sign) {
      const S v = from(pp + i);
      fl::simd::store(px + i, from(px + i) + ra * v);
      fl::simd::store(pp + i, sign * from(pr + i) + rb * v);
    });
  }

  // p = a g_5 r + b p
  void turned_combine(double a, const Field<Real>& r, double b, Field<Real>& p) {
    const Real* pr = r.data();
    Real* pp = p.data();
    const auto ra = static_cast<Real>(a), rb = static_cast<Real>(b);
    turned([=](fl::Index i, Real sign) { fl::simd::store(pp + i, sign * ra * from(pr + i) + rb * from(pp + i)); });
  }

  // q = g_5 q + shift p, and Re <p, q>
  double turned_shift_dot(Field<Real>& q, double shift, const Field<Real>& p) {
    const Real* pp = p.data();
    Real* pq = q.data();
    return turned_sum([=](fl::Index i, Real sign) {
      const S v = from(pp + i), u = sign * from(pq + i) + static_cast<Real>(shift) * v;
      fl::simd::store(pq + i, u);
      return u * v;
    });
  }

  // x = g_5 x
  void turn(Field<Real>& x) {
    Real* px = x.data();
    turned([=](fl::Index i, Real sign) { fl::simd::store(px + i, sign * from(px + i)); });
  }

  // Re <x, g_5 y>
  double turned_dot(const Field<Real>& x, const Field<Real>& y) {
    const Real *px = x.data(), *py = y.data();
    return turned_sum([=](fl::Index i, Real sign) -> S { return sign * from(px + i) * from(py + i); });
  }

  // For every shift: y += a p, then p = z r + b p. The shifts of one chunk follow each other, so that y and r stay in cache.
  struct Shift {
    double a = 0, z = 1, b = 0;
    Field<Real>* p = nullptr;
  };
  void advance(Field<Real>& y, const Field<Real>& r, const std::vector<Shift>& shifts) {
    const Real* pr = r.data();
    Real* py = y.data();
    chunks([=, &shifts](fl::Index first, fl::Index last, std::size_t) {
      for (const Shift& shift : shifts) {
        const V va = splat(shift.a), vz = splat(shift.z), vb = splat(shift.b);
        Real* pp = shift.p->data();
        for (fl::Index i = first; i < last; i += width) {
          const V v = load(pp + i);
          store(py + i, load(py + i) + va * v);
          store(pp + i, vz * load(pr + i) + vb * v);
        }
      }
    });
  }

  // <x, y>, the first conjugated
  Complex cdot(const Field<Real>& x, const Field<Real>& y) {
    const auto s = cdot_norm2(x, y);
    return {s[0], s[1]};
  }

  // Re and Im of <x, y>, and |x|^2
  std::array<double, 3> cdot_norm2(const Field<Real>& x, const Field<Real>& y) {
    const Real *px = x.data(), *py = y.data();
    return sums<3>([=](fl::Index i, C* s) {
      const C xr = part(px + i), xi = part(px + i + W), yr = part(py + i), yi = part(py + i + W);
      s[0] += xr * yr + xi * yi;
      s[1] += xr * yi - xi * yr;
      s[2] += xr * xr + xi * xi;
    });
  }

  // x += a y with complex a
  void caxpy(Complex a, const Field<Real>& y, Field<Real>& x) {
    const Real* py = y.data();
    Real* px = x.data();
    const C ar = of(a.re), ai = of(a.im);
    pairs([=](fl::Index i) {
      const C yr = part(py + i), yi = part(py + i + W);
      put(px + i, part(px + i) + (ar * yr - ai * yi));
      put(px + i + W, part(px + i + W) + (ar * yi + ai * yr));
    });
  }

  // x += a y with complex a, and |x|^2
  double caxpy_norm2(Complex a, const Field<Real>& y, Field<Real>& x) {
    const Real* py = y.data();
    Real* px = x.data();
    const C ar = of(a.re), ai = of(a.im);
    return sums<1>([=](fl::Index i, C* s) {
      const C yr = part(py + i), yi = part(py + i + W);
      const C xr = part(px + i) + (ar * yr - ai * yi), xi = part(px + i + W) + (ar * yi + ai * yr);
      put(px + i, xr);
      put(px + i + W, xi);
      s[0] += xr * xr + xi * xi;
    })[0];
  }

  // x += a p + b s
  void caxpy2(Complex a, const Field<Real>& p, Complex b, const Field<Real>& s, Field<Real>& x) {
    const Real *pp = p.data(), *ps = s.data();
    Real* px = x.data();
    const C ar = of(a.re), ai = of(a.im), br = of(b.re), bi = of(b.im);
    pairs([=](fl::Index i) {
      const C pr = part(pp + i), pi = part(pp + i + W), sr = part(ps + i), si = part(ps + i + W);
      put(px + i, part(px + i) + (ar * pr - ai * pi) + (br * sr - bi * si));
      put(px + i + W, part(px + i + W) + (ar * pi + ai * pr) + (br * si + bi * sr));
    });
  }

  // p = r + b (p - w v)
  void bicgstab_direction(Field<Real>& p, const Field<Real>& r, Complex b, Complex w, const Field<Real>& v) {
    const Real *pr = r.data(), *pv = v.data();
    Real* pp = p.data();
    const C br = of(b.re), bi = of(b.im), wr = of(w.re), wi = of(w.im);
    pairs([=](fl::Index i) {
      const C vr = part(pv + i), vi = part(pv + i + W);
      const C dr = part(pp + i) - (wr * vr - wi * vi), di = part(pp + i + W) - (wr * vi + wi * vr);
      put(pp + i, part(pr + i) + (br * dr - bi * di));
      put(pp + i + W, part(pr + i + W) + (br * di + bi * dr));
    });
  }

 private:
  using V = fl::simd::native<Real>;
  static constexpr int width = fl::simd::width<Real>;
  static constexpr fl::Index half = 12 * W, chunk = 3072;    // sites of any layout, blocks and vectors end with a chunk
  using S = std::conditional_t<half % width == 0, V, Real>;  // of which half a site is a whole number
  static constexpr int step = static_cast<int>(sizeof(S) / sizeof(Real));
  static S from(const Real* x) { return fl::simd::load<S>(x); }

  using C = typename PartOf<Real, W>::type;

  static V load(const Real* from) { return fl::simd::load<V>(from); }
  static void store(Real* to, const V& v) { fl::simd::store(to, v); }
  static V splat(double a) { return static_cast<Real>(a) - V{}; }
  static C part(const Real* from) { return fl::simd::load<C>(from); }
  static void put(Real* to, const C& c) { fl::simd::store(to, c); }
  static C of(double a) { return static_cast<Real>(a) - C{}; }

  template <class Lanes>
  static double lanes(const Lanes& v) {
    Real part[sizeof(Lanes) / sizeof(Real)];
    fl::simd::store(part, v);
    double total = 0;
    for (const Real x : part) total += static_cast<double>(x);
    return total;
  }

  template <class Body>
  void chunks(Body body) {
    const auto count = static_cast<fl::Index>(parts_.size());
#ifdef _OPENMP
    // Waking threads is slower than a few chunks.
#pragma omp parallel for num_threads(threads_) schedule(static) if (threads_ > 1 && count >= 2 * threads_)
#endif
    for (fl::Index k = 0; k < count; ++k) {
      const fl::Index c = !in_turn_ ? k : k / 2 + (k % 2 == 0 ? 0 : (count + 1) / 2);
      body(c * chunk, std::min(length_, (c + 1) * chunk), static_cast<std::size_t>(c));
    }
  }

  template <class Body>
  void each(Body body) {
    chunks([=](fl::Index first, fl::Index last, std::size_t) {
      for (fl::Index i = first; i < last; i += width) body(i);
    });
  }

  // body(i, sign): the sign of g_5
  template <class Body>
  void turned(Body body) {
    chunks([=](fl::Index first, fl::Index last, std::size_t) {
      for (fl::Index site = first; site < last; site += 2 * half) {
        for (fl::Index i = site; i < site + half; i += step) body(i, Real(1));
        for (fl::Index i = site + half; i < site + 2 * half; i += step) body(i, Real(-1));
      }
    });
  }

  template <class Term>
  double turned_sum(Term term) {
    chunks([=, this](fl::Index first, fl::Index last, std::size_t c) {
      S s[2] = {};
      for (fl::Index site = first; site < last; site += 2 * half)
        for (fl::Index i = 0; i < half; i += step) {
          s[0] += term(site + i, Real(1));
          s[1] += term(site + half + i, Real(-1));
        }
      parts_[c][0] = lanes(s[0]) + lanes(s[1]);
    });
    return add<1>()[0];
  }

  template <class Body>
  void pairs(Body body) {
    chunks([=](fl::Index first, fl::Index last, std::size_t) {
      for (fl::Index i = first; i < last; i += 2 * W) body(i);
    });
  }

  // Four sums at once hide the latency of an addition.
  template <class Term>
  double sum(Term term) {
    chunks([=, this](fl::Index first, fl::Index last, std::size_t c) {
      V s[4] = {};
      fl::Index i = first;
      for (; i + 4 * width <= last; i += 4 * width) fl::simd::unroll<4>([&](auto k) { s[k] += term(i + k * width); });
      for (; i < last; i += width) s[0] += term(i);
      parts_[c][0] = static_cast<double>(fl::simd::reduce<Real, 4>(s));
    });
    return add<1>()[0];
  }

  template <int count, class Term>
  std::array<double, count> sums(Term term) {
    chunks([=, this](fl::Index first, fl::Index last, std::size_t c) {
      C s[count] = {};
      for (fl::Index i = first; i < last; i += 2 * W) term(i, s);
      for (int k = 0; k < count; ++k) parts_[c][static_cast<std::size_t>(k)] = lanes(s[k]);
    });
    return add<count>();
  }

  template <int count>
  std::array<double, count> add() const {
    std::array<double, count> total{};
    for (const auto& part : parts_)
      for (std::size_t k = 0; k < count; ++k) total[k] += part[k];
    if (reduce_ != nullptr) reduce_(total.data(), count);
    return total;
  }

  fl::Index length_;
  int threads_;
  Reduce reduce_;
  bool in_turn_;                              // a chunk of one parity, then one of the other
  std::vector<std::array<double, 3>> parts_;  // of each chunk
};

}  // namespace lqcd
