// What G, a density and an energy must be. Compiled with the harness's own flags; integrals are the oracle's.
#pragma once

#include <functional>

#include "firstlight/error_summary.hpp"
#include "matrix.hpp"
#include "one_electron.hpp"
#include "oracle.hpp"

namespace hartree_fock {

// Schwarz bounds of all pairs of shells, and how many quartets they leave in each class.
class Bounds {
 public:
  explicit Bounds(const std::vector<Shell>& shells) : n_(shells.size()), q_(n_ * n_) {
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t k = 0; k <= i; ++k) {
        q_[i * n_ + k] = q_[k * n_ + i] = oracle::bound({shells[i], shells[k]});
        of_[shells[i].l + shells[k].l].push_back(q_[i * n_ + k]);
      }
    for (auto& some : of_) std::sort(some.begin(), some.end(), std::greater<>());
  }
  double operator()(std::size_t i, std::size_t k) const { return q_[i * n_ + k]; }

  // Pairs of pairs whose bounds' product is larger than tau, each once.
  std::array<fl::Index, class_count> quartets(double tau) const {
    std::array<fl::Index, class_count> found{};
    for (int bra = 0; bra < 3; ++bra)
      for (int ket = 0; ket <= bra; ++ket) {
        fl::Index count = 0, itself = 0;
        for (const double q : of_[bra]) {
          const auto beyond = std::partition_point(of_[ket].begin(), of_[ket].end(), [&](double other) { return q * other > tau; });
          count += beyond - of_[ket].begin();
          if (bra == ket && q * q > tau) ++itself;
        }
        found[class_of(bra, ket)] = bra == ket ? (count + itself) / 2 : count;
      }
    return found;
  }
  double all() const {
    const auto pairs = static_cast<double>(n_ * (n_ + 1) / 2);
    return pairs * (pairs + 1) / 2;
  }

 private:
  std::size_t n_;
  std::vector<double> q_;
  std::vector<double> of_[3];  // of ss, ps and pp, the largest first
};

inline fl::Cost cost(const Params& p, const fl::Team&) {
  Molecule molecule;
  read(p, molecule);
  const std::vector<Shell> shells = basis_of(molecule, p.basis);
  const auto n = static_cast<double>(functions_of(shells));
  const auto quartets = Bounds(shells).quartets(p.tau);
  fl::Cost cost{.elements = 1, .working_set = 16 * n * n};
  const Shipped* known = shipped_of(p);
  if (p.task == Task::energy && known == nullptr) return cost;  // a number of times that no step can predict
  const double builds = p.task == Task::energy ? known->iterations[static_cast<std::size_t>(p.basis)] : 1;
  for (int k = 0; k < class_count; ++k) {
    cost.operations += builds * static_cast<double>(quartets[k]);
    cost.phases.push_back({class_phases[k], &fl::Cost::operations, builds * static_cast<double>(quartets[k])});
  }
  return cost;
}

class Judge {
 public:
  Judge(State& s, fl::Index last)
      : s_(s), bounds_(s.shells), n_(static_cast<std::size_t>(s.n)), density_(n_, s.density.data()), g_(n_, s.g.data()) {
    if (s.p.task == Task::energy) return;
    const fl::ChangeLog ages(s.changing, last);
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t k = 0; k <= i; ++k) {
        const fl::Index pair = pair_of(static_cast<fl::Index>(i), static_cast<fl::Index>(k));
        density_(i, k) = density_(k, i) = given(pair, ages.of(pair, -1));
      }
  }

  fl::Check verdict() {
    compare_symmetry();
    compare_elements();
    compare_quartets();
    if (s_.p.task == Task::energy) compare_energy();
    return wrong_.check("all values are correct; the largest error: " + wrong_.what());
  }

 private:
  static constexpr double all_up_to = 60e3, drawn_up_to = 100e3;  // integrals of primitives

  void compare_symmetry() {
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t k = 0; k < i; ++k)
        if (const double error = std::abs(g_(i, k) - g_(k, i)); wrong_.exceeded_by(error, 1e-11))
          wrong_.consider(error, 1e-11, fl::text("G[%zu][%zu] is %.12g, G[%zu][%zu] is %.12g", i, k, g_(i, k), k, i, g_(k, i)));
  }

  // All blocks of G where they are cheap; else some, with a pair of each kind among them, others in each launch and on each rank.
  void compare_elements() {
    const std::vector<Shell>& shells = s_.shells;
    double primitives = 0, all = 0;
    for (const Shell& shell : shells) primitives += shell.count;
    const auto price = [&](std::size_t i, std::size_t k) { return 1.5 * primitives * primitives * shells[i].count * shells[k].count; };
    for (std::size_t i = 0; i < shells.size(); ++i)
      for (std::size_t k = 0; k <= i; ++k) all += price(i, k);
    if (all <= all_up_to) {
      for (std::size_t i = 0; i < shells.size(); ++i)
        for (std::size_t k = 0; k <= i; ++k) compare_block(i, k);
      return;
    }
    std::uint64_t drawn = fl::seed() + static_cast<std::uint64_t>(s_.team.rank) * 0x9E3779B97F4A7C15ull;
    const auto draw = [&](int l) {
      for (;;) {
        drawn = fl::hash(drawn);
        const auto k = static_cast<std::size_t>(drawn % shells.size());
        if (l < 0 || shells[k].l == l) return k;
      }
    };
    // A molecule of hydrogen has no p shells.
    const bool some_p = std::any_of(shells.begin(), shells.end(), [](const Shell& shell) { return shell.l == 1; });
    double spent = 0;
    for (int kind = some_p ? 2 : 0; kind >= 0 || spent < drawn_up_to; --kind) {
      const std::size_t i = draw(kind < 0 ? -1 : kind > 0), k = draw(kind < 0 ? -1 : kind > 1);
      compare_block(std::max(i, k), std::min(i, k));
      spent += price(i, k);
    }
  }

  void compare_block(std::size_t a, std::size_t b) {
    const std::vector<Shell>& shells = s_.shells;
    std::array<double, 9> block{};
    const oracle::Pair bra(shells[a], shells[b]);
    for (std::size_t c = 0; c < shells.size(); ++c) {
      for (std::size_t d = 0; d <= c; ++d)
        if (bounds_(a, b) * bounds_(c, d) > s_.p.tau)
          add(block, oracle::repulsion(bra, {shells[c], shells[d]}), a, b, c, d, c == d ? 1 : 2, true);
      const oracle::Pair exchanged(shells[a], shells[c]);
      for (std::size_t d = 0; d < shells.size(); ++d)
        if (bounds_(a, c) * bounds_(b, d) > s_.p.tau)
          add(block, oracle::repulsion(exchanged, {shells[b], shells[d]}), a, b, c, d, -0.5, false);
    }
    for (int i = 0; i < shells[a].functions(); ++i)
      for (int k = 0; k < shells[b].functions(); ++k) {
        const auto row = static_cast<std::size_t>(shells[a].first + i), column = static_cast<std::size_t>(shells[b].first + k);
        const double wanted = block[static_cast<std::size_t>(3 * i + k)], found = g_(row, column), error = std::abs(found - wanted);
        if (wrong_.exceeded_by(error, 1e-9))
          wrong_.consider(error, 1e-9, fl::text("G[%zu][%zu] is %.12g, should be %.12g", row, column, found, wanted));
      }
  }

  // `weight` D_cd times (ab|cd), or (ac|bd), whose last index is the fastest in either.
  void add(std::array<double, 9>& block, const oracle::Block& values, std::size_t a, std::size_t b, std::size_t c, std::size_t d,
           double weight, bool coulomb) const {
    const Shell &A = s_.shells[a], &B = s_.shells[b], &C = s_.shells[c], &D = s_.shells[d];
    for (int i = 0; i < A.functions(); ++i)
      for (int j = 0; j < B.functions(); ++j)
        for (int k = 0; k < C.functions(); ++k)
          for (int l = 0; l < D.functions(); ++l) {
            const int place = coulomb ? ((i * B.functions() + j) * C.functions() + k) * D.functions() + l
                                      : ((i * C.functions() + k) * B.functions() + j) * D.functions() + l;
            block[static_cast<std::size_t>(3 * i + j)] +=
                weight * density_(static_cast<std::size_t>(C.first + k), static_cast<std::size_t>(D.first + l)) *
                values[static_cast<std::size_t>(place)];
          }
  }

  // Those of a bound so near to tau that rounding decides may be in or out.
  void compare_quartets() {
    const auto fewest = bounds_.quartets(s_.p.tau * (1 + 1e-9)), most = bounds_.quartets(s_.p.tau * (1 - 1e-9));
    for (int k = 0; k < class_count; ++k) {
      const auto found = static_cast<fl::Index>(fl::total(static_cast<double>(s_.outcome.quartets[k])));
      const fl::Index beyond = std::max({fl::Index{0}, fewest[k] - found, found - most[k]});
      wrong_.consider(static_cast<double>(beyond), 0.5,
                      fl::text("%lld quartets (%s) were computed, but %lld are above the threshold", found, classes[k].name, fewest[k]));
    }
  }

  void compare_energy() {
    const OneElectron one = one_electron_of(s_.molecule, s_.shells);
    Matrix core = one.kinetic, fock = g_;
    for (std::size_t i = 0; i < core.a.size(); ++i) core.a[i] += one.attraction.a[i], fock.a[i] += core.a[i];
    const Outcome& out = s_.outcome;
    const auto consider = [&](const char* what, double found, double wanted, double allowed) {
      wrong_.consider(std::abs(found - wanted), allowed, fl::text("%s is %.12g, should be %.12g", what, found, wanted));
    };
    const Matrix product = density_ * one.overlap, twice = product * density_, moved = fock * density_ * one.overlap;
    double idempotency = 0, commutator = 0;
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t k = 0; k < n_; ++k) {
        worse(idempotency, twice(i, k) - 2 * density_(i, k));
        worse(commutator, moved(i, k) - moved(k, i));
      }
    consider("the number of electrons, tr D S,", inner(density_, one.overlap), s_.molecule.electrons(), 1e-9);
    consider("the largest element of D S D - 2 D", idempotency, 0, 1e-9);
    const std::string unfinished =
        out.iterations < most_iterations ? "" : fl::text("not converged after %lld iterations: ", out.iterations);
    consider((unfinished + "the largest element of F D S - S D F").c_str(), commutator, 0, 10 * converged);
    const double energy = nuclear_repulsion(s_.molecule) + (inner(density_, core) + inner(density_, fock)) / 2;
    consider("the energy", out.energy, energy, 1e-10);
    const double kinetic = inner(density_, one.kinetic);
    consider("the kinetic energy", out.kinetic, kinetic, 1e-10);
    compare_published((kinetic - energy) / kinetic, consider);
  }

  // Compares with published values where the molecule comes with this workload. The atoms of these are nearly at rest; in other molecules
  // forces stretch the virial ratio, too.
  template <class Consider>
  void compare_published(double virial_ratio, Consider consider) {
    const Shipped* known = shipped_of(s_.p);
    if (known == nullptr) return;
    consider("the virial ratio", virial_ratio, 2, 0.1);
    const auto set = static_cast<std::size_t>(s_.p.basis);
    // What is left out adds up: 50 tau was seen of eight molecules of water.
    consider("the energy", s_.outcome.energy, known->energy[set], std::max(1e-9, 100 * s_.p.tau));
    if (s_.p.tau <= 1e-10) consider("the number of iterations", static_cast<double>(s_.outcome.iterations), known->iterations[set], 0.5);
  }

  static void worse(double& most, double error) {
    if (!(std::abs(error) <= most)) most = std::abs(error);
  }

  State& s_;
  Bounds bounds_;
  std::size_t n_;
  Matrix density_, g_;
  fl::WorstError wrong_;
};

inline fl::Check check(State& s, fl::Index last) {
  place(s, last);
  return Judge(s, last).verdict();
}

inline void observe(State& s, fl::Observations& seen) {
  double computed = 0;
  for (const fl::Index some : s.outcome.quartets) computed += static_cast<double>(some);
  const auto pairs = static_cast<double>(s.shells.size() * (s.shells.size() + 1) / 2);
  seen.value("skipped", 1 - fl::total(computed) / (pairs * (pairs + 1) / 2));
  if (s.p.task == Task::matrix) return;
  seen.value("iterations", static_cast<double>(s.outcome.iterations));
  seen.value("binding_energy", std::isfinite(s.outcome.energy) ? -s.outcome.energy : 0);
  seen.value("virial_ratio", s.outcome.kinetic > 0 ? 1 - s.outcome.energy / s.outcome.kinetic : 0);
}

}  // namespace hartree_fock
