// A direct build of G = sum D_ls [(mn|ls) - 1/2 (ml|ns)]: each canonical quartet of shells once, used in all its places at once.
//
//   Direct<V> direct;                      V is double, or fl::simd::native<double>: as many quartets at a time as it has lanes
//   direct.prepare(shells, tau);
//   direct.build(density, g);              n x n, symmetric
//
// One bra meets all kets of a group that its bound leaves, neighbours in the lanes. What comes of a quartet v = (ij|kl), of weight w:
//   Coulomb    J_ij += 4 w v D_kl, J_kl += 4 w v D_ij        in arrays of pairs: whole vectors
//   exchange   K_ik += w v D_jl, and il jk, jk il, jl ik     in rows i and j of a matrix: lane by lane
// and G is (J - K) / 2 and its transpose together. w is 1/2 for i = j, for k = l and for ij = kl, all multiplied.
//
// Who divides the work takes `with_bra` as a task, with sums of its own (`Sums`), and adds them before `finish`.
#pragma once

#include <array>

#include "classes.hpp"
#include "pairs.hpp"

namespace hartree_fock {

// What quartets are digested with: the density, row by row and by pairs (times -4), and where sums go (times -1/2).
struct Digest {
  int n;
  const double* density;       // n x n
  const double* pair_density;  // by Group::density
  double* exchange;            // n x n
  double* coulomb;             // by Group::density
};

namespace detail {

template <class V, int... lane>
FL_DEVICE V gathered(const double* from, const int* first, std::integer_sequence<int, lane...>) {
  return V{from[first[lane]]...};
}
template <class V>
FL_DEVICE V gathered(const double* from, const int* first) {
  return gathered<V>(from, first, std::make_integer_sequence<int, lanes<V>>());
}

template <class V>
FL_DEVICE void scattered(double* to, const int* first, const V& v) {
  if constexpr (lanes<V> == 1) {
    to[*first] += v;
  } else {
    for (int lane = 0; lane < lanes<V>; ++lane) to[first[lane]] += v[lane];
  }
}

template <class V>
FL_DEVICE double sum_of(const V& v) {
  if constexpr (lanes<V> == 1) {
    return v;
  } else {
    double sum = 0;
    for (int lane = 0; lane < lanes<V>; ++lane) sum += v[lane];
    return sum;
  }
}

// The exchange of integrals v[i, j, k, l] (weighted) of a bra that begins at functions i and j with kets that begin at k and l.
template <int bra, int ket, class V>
void exchange(const V* v, int i, int j, const int* k, const int* l, const Digest& to) {
  constexpr int ni = bra > 0 ? 3 : 1, nj = bra > 1 ? 3 : 1, nk = ket > 0 ? 3 : 1, nl = ket > 1 ? 3 : 1;
  V d_ik[ni][nk], d_il[ni][nl], d_jk[nj][nk], d_jl[nj][nl];
  const auto read = [&](auto& block, int row, const int* column) {
    for (auto& numbers : block) {
      const double* from = to.density + static_cast<std::ptrdiff_t>(row++) * to.n;
      for (auto& number : numbers) number = gathered<V>(from++, column);
    }
  };
  read(d_ik, i, k), read(d_il, i, l), read(d_jk, j, k), read(d_jl, j, l);
  V k_ik[ni][nk] = {}, k_il[ni][nl] = {}, k_jk[nj][nk] = {}, k_jl[nj][nl] = {};
  for (int a = 0; a < ni; ++a)
    for (int b = 0; b < nj; ++b)
      for (int c = 0; c < nk; ++c)
        for (int d = 0; d < nl; ++d) {
          const V x = *v++;
          k_ik[a][c] += x * d_jl[b][d], k_il[a][d] += x * d_jk[b][c];
          k_jk[b][c] += x * d_il[a][d], k_jl[b][d] += x * d_ik[a][c];
        }
  const auto write = [&](auto& block, int row, const int* column) {
    for (auto& numbers : block) {
      double* at = to.exchange + static_cast<std::ptrdiff_t>(row++) * to.n;
      for (auto& number : numbers) scattered<V>(at++, column, number);
    }
  };
  write(k_ik, i, k), write(k_il, i, l), write(k_jk, j, k), write(k_jl, j, l);
}

}  // namespace detail

// All quartets of a bra, pair `number` of `left`, with the first `count` kets of a group. Flat, for what depends on the bra alone is then
// computed once: half as much time again where it is called.
template <int bra, int ket, class V>
[[gnu::flatten]] void with_kets(const double* rows, const PairsView& pairs, const Group& left, int number, const Group& right, int count,
                                const Digest& to) {
  constexpr int nb = components_of(bra), nk = components_of(ket);
  const std::ptrdiff_t pair = left.pairs + number;
  const bool triangle = left.pairs == right.pairs;
  const double* mine = to.pair_density + left.density + number;
  double* sums = to.coulomb + left.density + number;
  V total[nb] = {};
  for (int k = 0; k < count; k += lanes<V>) {
    V weight = load<V>(pairs.weight + right.pairs + k) * (-0.5 * pairs.weight[pair]);
    if constexpr (lanes<V> == 1) {
      if (triangle && k == number) weight *= 0.5;
    } else {
      for (int lane = count - k; lane < lanes<V>; ++lane) weight[lane] = 0;
      if (triangle && number - k < lanes<V>) weight[number - k] *= 0.5;
    }
    V v[nb * nk];
    repulsion<bra, ket, double>(rows, pairs.pair(left, number), pairs.pair(right, k), weight, v);
    for (int c = 0; c < nk; ++c) {
      const double* density = to.pair_density + right.density + static_cast<std::ptrdiff_t>(c) * right.padded + k;
      double* coulomb = to.coulomb + right.density + static_cast<std::ptrdiff_t>(c) * right.padded + k;
      const V d = load<V>(density);
      V sum = load<V>(coulomb);
      for (int b = 0; b < nb; ++b) {
        total[b] += v[b * nk + c] * d;
        sum += v[b * nk + c] * mine[static_cast<std::ptrdiff_t>(b) * left.padded];
      }
      store(coulomb, sum);
    }
    detail::exchange<bra, ket>(v, pairs.i[pair], pairs.j[pair], pairs.i + right.pairs + k, pairs.j + right.pairs + k, to);
  }
  for (int b = 0; b < nb; ++b) sums[static_cast<std::ptrdiff_t>(b) * left.padded] += detail::sum_of(total[b]);
}

// All quartets of a class that have this bra; returns how many. A task of its own.
template <int bra, int ket, class V>
long long with_bra(const Pairs& pairs, const Group& left, int number, double tau, const Digest& to) {
  const double* rows = Boys::table().of<bra + ket>();
  long long quartets = 0;
  for (const Group& right : pairs.groups()) {
    if (right.l != ket || (bra == ket && right.pairs > left.pairs)) continue;
    const int count = pairs.partners(left, number, right, tau);
    if (count > 0) with_kets<bra, ket, V>(rows, pairs.view(), left, number, right, count, to);
    quartets += count;
  }
  return quartets;
}

// Sums of one thread or process: exchange and Coulomb parts behind each other, so that they are added as one array.
struct Sums {
  std::vector<double> of;
  void reset(const Pairs& pairs, int n) { of.assign(static_cast<std::size_t>(n) * n + pairs.density_size(), 0); }
};

// The density as quartets are digested with it.
class Density {
 public:
  void take(const Pairs& pairs, int n, const double* density) {
    n_ = n, density_ = density;
    of_pairs_.resize(static_cast<std::size_t>(pairs.density_size()));
    each_component(pairs, n, [&](std::ptrdiff_t place, std::ptrdiff_t ij) { of_pairs_[place] = -4 * density[ij]; });
  }
  Digest into(Sums& sums) const {
    return {n_, density_, of_pairs_.data(), sums.of.data(), sums.of.data() + static_cast<std::ptrdiff_t>(n_) * n_};
  }

  // body(place by pairs, place in a matrix)
  template <class Body>
  static void each_component(const Pairs& pairs, int n, Body body) {
    const PairsView view = pairs.view();
    for (const Group& group : pairs.groups())
      for (int c = 0; c < components_of(group.l); ++c)
        for (int k = 0; k < group.padded; ++k) {
          const std::ptrdiff_t i = view.i[group.pairs + k] + (group.l == 2 ? c / 3 : c);
          const std::ptrdiff_t j = view.j[group.pairs + k] + (group.l == 2 ? c % 3 : 0);
          body(group.density + static_cast<std::ptrdiff_t>(c) * group.padded + k, i * n + j);
        }
  }

 private:
  int n_ = 0;
  const double* density_ = nullptr;
  std::vector<double> of_pairs_;
};

// G of sums that hold all quartets; they are used up.
inline void finish(const Pairs& pairs, int n, Sums& sums, double* g) {
  double* exchange = sums.of.data();
  const double* coulomb = exchange + static_cast<std::ptrdiff_t>(n) * n;
  Density::each_component(pairs, n, [&](std::ptrdiff_t place, std::ptrdiff_t ij) { exchange[ij] += coulomb[place]; });
  for (std::ptrdiff_t i = 0; i < n; ++i)
    for (std::ptrdiff_t j = 0; j <= i; ++j) g[i * n + j] = g[j * n + i] = exchange[i * n + j] + exchange[j * n + i];
}

template <class V>
class Direct {
 public:
  static_assert(lanes<V> <= Pairs::widest);
  std::array<long long, class_count> quartets{};  // of each class in the last build

  void prepare(const std::vector<Shell>& shells, double tau) {
    n_ = functions_of(shells), tau_ = tau;
    pairs_ = Pairs::of<V>(shells);
  }

  void build(const double* density, double* g) {
    build(density, g, [](auto, auto&& work) { work(); });
  }

  // during(number of a class, work) calls work(): for who times the classes.
  template <class During>
  void build(const double* density, double* g, During&& during) {
    density_.take(pairs_, n_, density);
    sums_.reset(pairs_, n_);
    const Digest to = density_.into(sums_);
    repeat<class_count>([&](auto c) {
      constexpr Class of = classes[decltype(c)::value];
      quartets[c] = 0;
      during(c, [&] {
        for (const Group& group : pairs_.groups())
          for (int k = 0; group.l == of.bra && k < group.size; ++k) quartets[c] += with_bra<of.bra, of.ket, V>(pairs_, group, k, tau_, to);
      });
    });
    finish(pairs_, n_, sums_, g);
  }

 private:
  int n_ = 0;
  double tau_ = 0;
  Pairs pairs_;
  Density density_;
  Sums sums_;
};

}  // namespace hartree_fock
