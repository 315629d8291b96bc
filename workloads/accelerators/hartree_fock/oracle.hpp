// Electron repulsion integrals for the judge: every contracted integral from the definition by Hermite expansion, primitive by primitive.
// Nothing of it is shared with the kernels that are measured.
#pragma once

#include "hermite.hpp"
#include "shells.hpp"

namespace hartree_fock::oracle {

// (ij|kl) of four shells, the last function fastest.
using Block = std::array<double, 81>;

inline int size(const Shell& a, const Shell& b, const Shell& c, const Shell& d) {
  return a.functions() * b.functions() * c.functions() * d.functions();
}

// What a pair of functions of two shells has of each Lambda_tuv: at most 2 x 2 or 3 of them.
struct Term {
  int t, u, v;
  double e;
};

inline std::vector<std::vector<Term>> expanded(const hermite::Pair& pair, const Shell& a, const Shell& b, double scale) {
  std::vector<std::vector<Term>> terms;
  for (int i = 0; i < a.functions(); ++i)
    for (int k = 0; k < b.functions(); ++k) {
      auto& these = terms.emplace_back();
      hermite::each(pair, hermite::powers(a.l, i), hermite::powers(b.l, k), [&](int t, int u, int v, double e) {
        if (e != 0) these.push_back({t, u, v, scale * e});
      });
    }
  return terms;
}

struct Primitive {
  double p;
  Point centre;
  std::vector<std::vector<Term>> functions;
};

// The primitives of a pair of shells.
struct Pair {
  const Shell *a, *b;
  std::vector<Primitive> primitives;

  Pair(const Shell& first, const Shell& second) : a(&first), b(&second) {
    for (int u = 0; u < first.count; ++u)
      for (int v = 0; v < second.count; ++v) {
        const hermite::Pair pair(first.exponent[u], first.centre, first.l, second.exponent[v], second.centre, second.l);
        primitives.push_back({pair.p, pair.centre, expanded(pair, first, second, first.coefficient[u] * second.coefficient[v])});
      }
  }
};

inline Block repulsion(const Pair& bra, const Pair& ket) {
  Block block{};
  const int order = bra.a->l + bra.b->l + ket.a->l + ket.b->l;
  for (const Primitive& left : bra.primitives)
    for (const Primitive& right : ket.primitives) {
      const double p = left.p, q = right.p;
      const auto r = hermite::coulomb(p * q / (p + q), hermite::between(left.centre, right.centre), order);
      const double scale = 2 * std::pow(std::numbers::pi, 2.5) / (p * q * std::sqrt(p + q));
      std::size_t place = 0;
      for (const auto& first : left.functions)
        for (const auto& second : right.functions) {
          double sum = 0;
          for (const Term& x : first)
            for (const Term& y : second) sum += ((y.t + y.u + y.v) % 2 == 0 ? 1 : -1) * x.e * y.e * r[x.t + y.t][x.u + y.u][x.v + y.v];
          block[place++] += scale * sum;
        }
    }
  return block;
}

// visit(i, j, k, l, (ij|kl)) for all functions of the shells.
template <class Visit>
void each_repulsion(const std::vector<Shell>& shells, Visit visit) {
  for (const Shell& a : shells)
    for (const Shell& b : shells)
      for (const Shell& c : shells)
        for (const Shell& d : shells) {
          const Block block = repulsion({a, b}, {c, d});
          const double* value = block.data();
          for (int i = a.first; i < a.first + a.functions(); ++i)
            for (int j = b.first; j < b.first + b.functions(); ++j)
              for (int k = c.first; k < c.first + c.functions(); ++k)
                for (int l = d.first; l < d.first + d.functions(); ++l) visit(i, j, k, l, *value++);
        }
}

// Schwarz bound of a pair: |(ij|kl)| <= bound(ij) bound(kl).
inline double bound(const Pair& pair) {
  const Block block = repulsion(pair, pair);
  const auto n = static_cast<std::size_t>(pair.a->functions() * pair.b->functions());
  double most = 0;
  for (std::size_t k = 0; k < n; ++k) most = std::max(most, std::abs(block[k * n + k]));
  return std::sqrt(most);
}

}  // namespace hartree_fock::oracle
