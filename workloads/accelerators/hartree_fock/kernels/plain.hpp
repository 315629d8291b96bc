// A builder as the definition has it: canonical quartets one after the other, primitive by primitive. What broken variants are made from.
#pragma once

#include "oracle.hpp"
#include "run.hpp"

namespace hartree_fock {

// What broken variants do otherwise.
struct Rules {
  double twice = 0.5;    // of a pair of twice the same shell, and of a quartet of twice the same pair
  bool turned = true;    // exchange of the kets' functions in either order
  bool squared = false;  // bounds without the square root
};

template <Rules rules = Rules{}>
struct PlainBy {
  void prepare(State& s) { prepare(s, s.shells); }
  void prepare(State& s, const std::vector<Shell>& shells) {
    s_ = &s;
    for (auto& some : pairs_) some.clear();
    for (std::size_t i = 0; i < shells.size(); ++i)
      for (std::size_t k = 0; k <= i; ++k) {
        oracle::Pair pair(shells[i], shells[k]);
        if (shells[i].l < shells[k].l) pair = oracle::Pair(shells[k], shells[i]);
        const double q = oracle::bound(pair);
        pairs_[static_cast<std::size_t>(shells[i].l + shells[k].l)].push_back({std::move(pair), q});
      }
    for (auto& some : pairs_) std::sort(some.begin(), some.end(), [](const Bounded& a, const Bounded& b) { return a.q > b.q; });
  }

  void build(const double* density, double* g) {
    const fl::Index n = s_->n;
    std::fill_n(g, n * n, 0.0);
    quartets_ = {};
    for (int bra = 0; bra < 3; ++bra)
      for (int ket = 0; ket <= bra; ++ket) {
        const fl::In in(class_phases[class_of(bra, ket)]);
        for (std::size_t i = 0; i < pairs_[bra].size(); ++i)
          for (std::size_t k = 0; k < (bra == ket ? i + 1 : pairs_[ket].size()); ++k) {
            const Bounded &left = pairs_[bra][i], &right = pairs_[ket][k];
            const double most = left.q * right.q;
            if ((rules.squared ? most * most : most) <= s_->p.tau) break;
            ++quartets_[class_of(bra, ket)];
            digest(left.pair, right.pair, bra == ket && i == k, density, g);
          }
      }
    for (fl::Index i = 0; i < n; ++i)
      for (fl::Index k = 0; k <= i; ++k) g[i * n + k] = g[k * n + i] = g[i * n + k] + g[k * n + i];
  }

  std::array<fl::Index, class_count> quartets() const { return quartets_; }

 private:
  struct Bounded {
    oracle::Pair pair;
    double q;
  };

  void digest(const oracle::Pair& bra, const oracle::Pair& ket, bool same, const double* density, double* g) const {
    const auto values = oracle::repulsion(bra, ket);
    const double weight = (bra.a == bra.b ? rules.twice : 1) * (ket.a == ket.b ? rules.twice : 1) * (same ? rules.twice : 1);
    const fl::Index n = s_->n;
    const double* v = values.data();
    for (int a = bra.a->first; a < bra.a->first + bra.a->functions(); ++a)
      for (int b = bra.b->first; b < bra.b->first + bra.b->functions(); ++b)
        for (int c = ket.a->first; c < ket.a->first + ket.a->functions(); ++c)
          for (int d = ket.b->first; d < ket.b->first + ket.b->functions(); ++d) {
            const double x = weight * *v++;
            g[a * n + b] += 2 * x * density[c * n + d];
            g[c * n + d] += 2 * x * density[a * n + b];
            g[a * n + c] -= x / 2 * density[b * n + d];
            g[b * n + c] -= x / 2 * density[a * n + d];
            if (!rules.turned) continue;
            g[a * n + d] -= x / 2 * density[b * n + c];
            g[b * n + d] -= x / 2 * density[a * n + c];
          }
  }

  State* s_ = nullptr;
  std::vector<Bounded> pairs_[3];  // of ss, ps and pp
  std::array<fl::Index, class_count> quartets_{};
};

using Plain = PlainBy<>;

}  // namespace hartree_fock
