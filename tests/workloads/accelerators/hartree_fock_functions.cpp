// The kernels of hartree_fock for tests: as numbers, four and eight lanes, against the judge's plain integrals.
#include <algorithm>
#include <cmath>

#include "classes.hpp"
#include "kernels/direct.hpp"
#include "oracle.hpp"

using namespace hartree_fock;

namespace {

typedef double Four __attribute__((vector_size(32)));
typedef double Eight __attribute__((vector_size(64)));

// body(a number of that type)
template <class Body>
void with(int lanes, Body body) {
  if (lanes == 1) body(double{});
  if (lanes == 4) body(Four{});
  if (lanes == 8) body(Eight{});
}

template <int m, class V>
void boys_of(const double* t, double* f) {
  const V at = load<V>(t);
  V found[m + 1];
  const auto far = at > static_cast<double>(Boys::last);
  boys<m>(Boys::table().of<m>(), at, far, found);
  for (int k = 0; k <= m; ++k) store(f + k * lanes<V>, found[k]);
  for (int lane = 0; lane < lanes<V>; ++lane)  // what a caller of the kernels does
    if (t[lane] > Boys::last)
      for (int k = 0; k <= m; ++k) f[k * lanes<V> + lane] *= std::sqrt(std::acos(-1.0) / 4 / t[lane]) / std::pow(2 * t[lane], k);
}

// Shells as twelve numbers: l, primitives, centre, first function, exponents and coefficients.
std::vector<Shell> shells_of(int count, const double* numbers) {
  std::vector<Shell> shells;
  for (int k = 0; k < count; ++k, numbers += 12) {
    Shell& shell = shells.emplace_back();
    shell.l = static_cast<int>(numbers[0]), shell.count = static_cast<int>(numbers[1]);
    for (std::size_t d = 0; d < 3; ++d) {
      shell.centre[d] = numbers[2 + d], shell.exponent[d] = numbers[6 + d], shell.coefficient[d] = numbers[9 + d];
    }
    shell.first = static_cast<int>(numbers[5]);
  }
  return shells;
}

const Shell& beginning_at(const std::vector<Shell>& shells, int first) {
  return *std::find_if(shells.begin(), shells.end(), [&](const Shell& shell) { return shell.first == first; });
}

oracle::Pair plain(const std::vector<Shell>& shells, const Pairs& pairs, std::ptrdiff_t pair) {
  return {beginning_at(shells, pairs.view().i[pair]), beginning_at(shells, pairs.view().j[pair])};
}

template <int bra, int ket, class V>
double worst_of(const std::vector<Shell>& shells, const Pairs& pairs) {
  constexpr int size = components_of(bra) * components_of(ket);
  double worst = 0;
  for (const Group& left : pairs.groups())
    for (const Group& right : pairs.groups())
      for (int b = 0; left.l == bra && right.l == ket && b < left.size; ++b) {
        const oracle::Pair first = plain(shells, pairs, left.pairs + b);
        for (int k = 0; k < right.size; k += lanes<V>) {
          V found[size];
          repulsion<bra, ket, double>(Boys::table().of<bra + ket>(), pairs.view().pair(left, b), pairs.view().pair(right, k), all<V>(2),
                                      found);
          for (int lane = 0; lane < std::min(lanes<V>, right.size - k); ++lane) {
            const oracle::Pair second = plain(shells, pairs, right.pairs + k + lane);
            const auto wanted = oracle::repulsion(first, second);
            const double scale = std::max(1.0, oracle::bound(first) * oracle::bound(second));
            for (int c = 0; c < size; ++c) {
              double numbers[lanes<V>];
              store(numbers, found[c]);
              const double error = std::fabs(numbers[lane] - 2 * wanted[static_cast<std::size_t>(c)]) / scale;
              if (!(error <= worst)) worst = error;
            }
          }
        }
      }
  return worst;
}

}  // namespace

extern "C" {

// f[m + 1][lanes] of t[lanes].
void boys_functions(int lanes, int m, const double* t, double* f) {
  with(lanes, [&](auto v) {
    using V = decltype(v);
    repeat<Boys::most + 1>([&](auto k) {
      if (k == m) boys_of<decltype(k)::value, V>(t, f);
    });
  });
}

// Computes for each class the largest error of any integral of these shells, over its Schwarz bound where that is above 1.
void worst_integrals(int lanes, int count, const double* numbers, double* worst) {
  const auto shells = shells_of(count, numbers);
  const Pairs pairs = Pairs::of(shells);
  with(lanes, [&](auto v) {
    repeat<class_count>([&](auto c) {
      constexpr Class of = classes[decltype(c)::value];
      worst[c] = worst_of<of.bra, of.ket, decltype(v)>(shells, pairs);
    });
  });
}

// The largest relative error of any pair's bound.
double worst_bound(int count, const double* numbers) {
  const auto shells = shells_of(count, numbers);
  const Pairs pairs = Pairs::of(shells);
  double worst = 0;
  for (const Group& group : pairs.groups())
    for (std::ptrdiff_t k = group.pairs; k < group.pairs + group.size; ++k) {
      const double error = std::fabs(pairs.view().bound[k] / oracle::bound(plain(shells, pairs, k)) - 1);
      if (!(error <= worst)) worst = error;
    }
  return worst;
}

// Returns G of a density, and the number of quartets of each class; of one lane or eight.
void matrix(int lanes, int count, const double* numbers, double tau, const double* density, double* g, long long* quartets) {
  const auto shells = shells_of(count, numbers);
  const auto built = [&](auto direct) {
    direct.prepare(shells, tau);
    direct.build(density, g);
    std::copy(direct.quartets.begin(), direct.quartets.end(), quartets);
  };
  if (lanes == 1) built(Direct<double>());
  if (lanes == 8) built(Direct<Eight>());
}

// The same by its definition, from all n^4 integrals, and the quartets that the bounds leave.
void plain_matrix(int count, const double* numbers, double tau, const double* density, double* g, long long* quartets) {
  const auto shells = shells_of(count, numbers);
  const int n = functions_of(shells);
  std::fill_n(g, n * n, 0.0);
  oracle::each_repulsion(shells, [&](int i, int j, int k, int l, double value) {
    g[i * n + j] += value * density[k * n + l];
    g[i * n + k] -= value * density[j * n + l] / 2;
  });
  std::fill_n(quartets, class_count, 0);
  struct Bounded {
    int l;
    double bound;
  };
  std::vector<Bounded> bounds;
  for (std::size_t a = 0; a < shells.size(); ++a)
    for (std::size_t b = 0; b <= a; ++b) bounds.push_back({shells[a].l + shells[b].l, oracle::bound({shells[a], shells[b]})});
  for (std::size_t x = 0; x < bounds.size(); ++x)
    for (std::size_t y = 0; y <= x; ++y)
      for (int c = 0; c < class_count; ++c)
        if (std::max(bounds[x].l, bounds[y].l) == classes[c].bra && std::min(bounds[x].l, bounds[y].l) == classes[c].ket)
          quartets[c] += bounds[x].bound * bounds[y].bound > tau;
}
}
