// The six classes of electron repulsion integrals over contracted s and p Gaussians, one kernel each, one body for every kind of number.
//
// McMurchie and Davidson's scheme (J. Comput. Phys. 26, 218 (1978)), contracted early. The product of two primitives is a sum of Hermite
// Gaussians around P, and the centres A and B enter it by the vector A - B alone, since P - A = -b/p (A - B) and P - B = a/p (A - B):
//   s s   c
//   p s   i:   c (-b/p) (A-B)_i + c/2p d_i
//   p p   ij:  c (-ab/p^2) (A-B)_i (A-B)_j + c/2p [i=j] + c a/2p^2 (A-B)_j d_i - c b/2p^2 (A-B)_i d_j + c/4p^2 d_i d_j
// with d = d/dP. What is before the vectors is known for each pair of primitives: one, two or five weights. So a quartet of
// primitives only adds weight * weight * [derivatives of (P|Q)] to a few sums, and components appear once, after the contraction.
//
// Derivatives of (P|Q) = F_0(t) / sqrt(p + q), t = pq/(p+q) (P-Q)^2, come in closed form from its derivatives by (P-Q)^2.
#pragma once

#include "boys.hpp"

namespace hartree_fock {

// By the number of p functions in a pair: 0 (ss), 1 (ps, p first), 2 (pp).
FL_DEVICE constexpr int weights_of(int l) { return l == 0 ? 1 : l == 1 ? 2 : 5; }
FL_DEVICE constexpr int components_of(int l) { return l == 0 ? 1 : l == 1 ? 3 : 9; }
FL_DEVICE constexpr int order_of(int l, int weight) { return l == 1 ? weight : l == 2 ? weight / 2 : 0; }  // 0; 0 1; 0 0 1 1 2
static_assert(order_of(2, 1) == 0 && order_of(2, 3) == 1 && order_of(2, 4) == 2);

// Pairs of shells as fields: at[f * stride] is field f. First three of the pair, A - B; then for each pair of primitives that counts
// p, P and its weights. A pair on the side of the lanes has as many neighbours behind each field as there are lanes.
inline constexpr int fields_of_pair = 3;
FL_DEVICE constexpr int fields_of_primitive(int l) { return 4 + weights_of(l); }

struct PairView {
  const double* at;
  long stride;
  int depth;

  template <class V>
  [[gnu::always_inline]] FL_DEVICE V field(int f) const {
    return load<V>(at + f * stride);
  }
};

namespace detail {

// Derivatives in x, y, z: those of order n behind those of lower orders; within an order xx, xy, xz, yy, yz, zz.
FL_DEVICE constexpr int first_of(int order) { return order * (order + 1) * (order + 2) / 6; }
FL_DEVICE constexpr int count_of(int order) { return (order + 1) * (order + 2) / 2; }

// Number of a derivative, within its order, once more by i; `yz` is how often it is one by y or z.
FL_DEVICE constexpr int once_more(int number, int yz, int i) { return number + (i > 0 ? yz + i : 0); }
FL_DEVICE constexpr int twice_more(int number, int yz, int i, int j) { return once_more(once_more(number, yz, i), yz + (i > 0), j); }
FL_DEVICE constexpr int by_yz(int number) { return number == 0 ? 0 : number < 3 ? 1 : 2; }  // of the first six
static_assert(twice_more(5, by_yz(5), 2, 2) == 14 && once_more(4, by_yz(4), 1) == 7);

// Computes the derivatives of a function of (P-Q)^2 from its value g[0] and from g[n], which is (1/r d/dr) applied n times.
template <int highest, class V>
[[gnu::always_inline]] FL_DEVICE void derivatives(V x, V y, V z, const V (&g)[highest + 1], V (&r)[first_of(highest + 1)]) {
  r[0] = g[0];
  if constexpr (highest >= 1) r[1] = x * g[1], r[2] = y * g[1], r[3] = z * g[1];
  if constexpr (highest >= 2) {
    const V xg = x * g[2], yg = y * g[2], zg = z * g[2];
    r[4] = g[1] + x * xg, r[5] = y * xg, r[6] = z * xg;
    r[7] = g[1] + y * yg, r[8] = z * yg, r[9] = g[1] + z * zg;
  }
  if constexpr (highest >= 3) {
    const V a = g[2] + x * x * g[3], b = g[2] + y * y * g[3], c = g[2] + z * z * g[3], twice = g[2] + g[2];
    r[10] = x * (a + twice), r[11] = y * a, r[12] = z * a, r[13] = x * b, r[14] = x * y * (z * g[3]);
    r[15] = x * c, r[16] = y * (b + twice), r[17] = z * b, r[18] = y * c, r[19] = z * (c + twice);
    if constexpr (highest >= 4) {
      const V d = g[3] + x * x * g[4], e = g[3] + y * y * g[4], f = g[3] + z * z * g[4], two = g[3] + g[3], three = twice + g[2];
      const V xy = x * y, xz = x * z, yz = y * z, five = two + two + g[3];
      r[20] = x * x * (d + five) + three, r[21] = xy * (d + two), r[22] = xz * (d + two), r[23] = a + y * y * d, r[24] = yz * d;
      r[25] = a + z * z * d, r[26] = xy * (e + two), r[27] = xz * e, r[28] = xy * f, r[29] = xz * (f + two);
      r[30] = y * y * (e + five) + three, r[31] = yz * (e + two), r[32] = b + z * z * e, r[33] = yz * (f + two);
      r[34] = z * z * (f + five) + three;
    }
  }
}

// Where the sums of a weight of the bra and one of the ket begin.
FL_DEVICE constexpr int place_of(int bra, int ket, int weight_bra, int weight_ket) {
  int place = 0;
  for (int b = 0; b < weights_of(bra); ++b)
    for (int k = 0; k < weights_of(ket); ++k) {
      if (b == weight_bra && k == weight_ket) return place;
      place += count_of(order_of(bra, b) + order_of(ket, k));
    }
  return place;
}
FL_DEVICE constexpr int sums_of(int bra, int ket) { return place_of(bra, ket, weights_of(bra), 0); }

// From the sums of each weight to a component of a pair. sum(weight, n) is that of the n-th derivative; the other side has still to do
// number `number` of its order.
template <int l, int number, class B, class Sum>
[[gnu::always_inline]] FL_DEVICE auto assembled(int component, const B (&ab)[3], const Sum& sum) {
  constexpr int yz = by_yz(number);
  if constexpr (l == 0) {
    return sum(0, number);
  } else if constexpr (l == 1) {
    return ab[component] * sum(0, number) + sum(1, once_more(number, yz, component));
  } else {
    const int i = component / 3, j = component % 3;
    auto total = ab[i] * ab[j] * sum(0, number) + ab[j] * sum(2, once_more(number, yz, i)) + ab[i] * sum(3, once_more(number, yz, j)) +
                 sum(4, twice_more(number, yz, i, j));
    if (i == j) total = total + sum(1, number);
    return total;
  }
}

}  // namespace detail

// Row by row, emit(component c of the bra, out): out[component of the ket] = scale * (bra|ket), a component i, j of pp being 3 i + j. Of the
// weights of the ket only those from `first` to before `last`: an integral is a sum over them, so parts of a quartet may be computed by
// different threads. V is double or a vector; B, the numbers of the bra, is V or double: one bra for all lanes. `rows` is
// Boys::of<bra + the order of the last weight>().
template <int bra, int ket, int first, int last, class B, class V, class Emit>
[[gnu::always_inline]] FL_DEVICE void repulsion_rows(const double* rows, const PairView& left, const PairView& right, V scale,
                                                     const Emit& emit) {
  constexpr int highest = bra + order_of(ket, last - 1);
  constexpr int braces = weights_of(bra), kets = weights_of(ket);
  V sums[detail::sums_of(bra, ket)] = {};
  for (int k = 0; k < right.depth; ++k) {
    const int at = fields_of_pair + k * fields_of_primitive(ket);
    const V q = right.field<V>(at), qx = right.field<V>(at + 1), qy = right.field<V>(at + 2), qz = right.field<V>(at + 3);
    V weight[kets];
    for (int w = 0; w < kets; ++w) weight[w] = right.field<V>(at + 4 + w);
    for (int b = 0; b < left.depth; ++b) {
      const int from = fields_of_pair + b * fields_of_primitive(bra);
      const B p = left.field<B>(from);
      const V x = left.field<B>(from + 1) - qx, y = left.field<B>(from + 2) - qy, z = left.field<B>(from + 3) - qz;

      // One division and one root, near or far: F_0 / sqrt(p + q) is sqrt(pi / (4 pq)) / r far out.
      const V pq = p * q, sum = p + q, apart = pq * (x * x + y * y + z * z);
      const auto far = apart > static_cast<double>(Boys::last) * sum;
      const double four_over_pi = 1.2732395447351626862;
      const V inverse = 1.0 / (far ? apart * four_over_pi : sum);
      V g[highest + 1];
      boys<highest>(rows, apart * inverse, far, g);
      V factor = root(inverse);
      if constexpr (highest > 0) {
        const V ratio = pq * inverse * (far ? all<V>(-four_over_pi) : all<V>(-2.0));
        g[0] = g[0] * factor;
        repeat<highest>([&](auto n) __attribute__((always_inline)) { factor = factor * ratio, g[n + 1] = g[n + 1] * factor; });
      } else {
        g[0] = g[0] * factor;
      }
      V r[detail::first_of(highest + 1)];
      detail::derivatives<highest>(x, y, z, g, r);
      repeat<braces>([&](auto i) __attribute__((always_inline)) {
        const B w = left.field<B>(from + 4 + i);
        repeat<kets>([&](auto j) __attribute__((always_inline)) {
          constexpr int a = decltype(i)::value, b = decltype(j)::value;
          constexpr int order_ket = order_of(ket, b), order = order_of(bra, a) + order_ket, place = detail::place_of(bra, ket, a, b);
          if constexpr (b >= first && b < last) {
            const V both = w * weight[j];
            for (int c = 0; c < detail::count_of(order); ++c) {
              if constexpr (order_ket == 1)  // d/dQ = -d/dP
                sums[place + c] = sums[place + c] - both * r[detail::first_of(order) + c];
              else
                sums[place + c] = sums[place + c] + both * r[detail::first_of(order) + c];
            }
          }
        });
      });
    }
  }

  B ab[3];
  V cd[3];
  for (int d = 0; d < 3; ++d) ab[d] = left.field<B>(d), cd[d] = right.field<V>(d);
  each<components_of(bra)>([&](auto c) __attribute__((always_inline)) {
    V half[kets][6];
    repeat<kets>([&](auto j) __attribute__((always_inline)) {
      constexpr bool mine = decltype(j)::value >= first && decltype(j)::value < last;  // the sums of the others are zero
      repeat<detail::count_of(order_of(ket, decltype(j)::value))>([&](auto number) __attribute__((always_inline)) {
        if constexpr (mine)
          half[j][number] = detail::assembled<bra, decltype(number)::value>(
              c, ab, [&](int w, int n) __attribute__((always_inline)) { return sums[detail::place_of(bra, ket, w, j) + n]; });
        else
          half[j][number] = all<V>(0);
      });
    });
    const auto sum = [&](int w, int n) __attribute__((always_inline)) { return half[w][n]; };
    V out[components_of(ket)];
    repeat<components_of(ket)>([&](auto d) __attribute__((always_inline)) { out[d] = scale * detail::assembled<ket, 0>(d, cd, sum); });
    emit(c, out);
  });
}

// out[components of bra][components of ket], all of it.
template <int bra, int ket, class B, class V>
FL_DEVICE void repulsion_inline(const double* rows, const PairView& left, const PairView& right, V scale,
                                V (&out)[components_of(bra) * components_of(ket)]) {
  repulsion_rows<bra, ket, 0, weights_of(ket), B>(
      rows, left, right, scale, [&](auto c, const auto& row) __attribute__((always_inline)) {
        for (int d = 0; d < components_of(ket); ++d) out[c * components_of(ket) + d] = row[d];
      });
}
#if !defined(__CUDACC__)
// One body for all who call it: as large as that of (pp,pp) is, nothing is lost by the call.
template <class B, class V>
[[gnu::noinline]] void repulsion_pppp(const double* rows, const PairView& left, const PairView& right, V scale, V (&out)[81]) {
  repulsion_inline<2, 2, B>(rows, left, right, scale, out);
}
#endif
template <int bra, int ket, class B, class V>
FL_DEVICE void repulsion(const double* rows, const PairView& left, const PairView& right, V scale,
                         V (&out)[components_of(bra) * components_of(ket)]) {
#if !defined(__CUDACC__)
  if constexpr (bra == 2 && ket == 2)
    repulsion_pppp<B>(rows, left, right, scale, out);
  else
#endif
    repulsion_inline<bra, ket, B>(rows, left, right, scale, out);
}

}  // namespace hartree_fock
