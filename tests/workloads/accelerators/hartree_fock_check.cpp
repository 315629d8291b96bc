// Changes one thing in a correct result of hartree_fock and returns the check's verdict; called from tests/workloads/accelerators/test_hartree_fock_check.py.
#include <cstring>

#include "firstlight/phase.hpp"
#include "hartree_fock.hpp"

#include "../../support/heap.hpp"
#include "kernels/direct.hpp"
#include "kernels/scf.hpp"

namespace fl {  // what of the harness has no place in a library
std::uint64_t seed() { return 14; }
}  // namespace fl

using namespace hartree_fock;

namespace {

struct Built {
  Direct<double> direct;
  void build(const double* density, double* g) { direct.build(density, g); }
};

// Where the step led, and the ways to lead elsewhere from there.
class Result {
 public:
  Result(const char* xyz, int set, bool energy) {
    const Params p{
        .molecule = {"test.xyz-0", xyz}, .basis = static_cast<BasisSet>(set), .task = energy ? Task::energy : Task::matrix, .tau = 1e-12};
    init(s, p, fl::Team{});
    for (fl::Index iteration = 0; iteration <= last; ++iteration) mutate_inputs(s, iteration);
    builder_.direct.prepare(s.shells, p.tau);
    if (energy)
      SelfConsistentField<Built>(s, builder_).solve();
    else
      builder_.build(s.density.data(), s.g.data());
    s.outcome.quartets = builder_.direct.quartets;
  }

  fl::Check judged() { return check(s, last); }

  void spoil(std::string_view what, double by) {
    const fl::Index end = s.n - 1;  // of a row
    if (what == "upper triangle") s.g[end] += by;
    if (what == "both triangles") s.g[end] += by, s.g[end * s.n] += by;
    if (what == "quartets") s.outcome.quartets.back() += static_cast<fl::Index>(by);
    if (what == "energy") s.outcome.energy += by;
    if (what == "kinetic energy") s.outcome.kinetic += by;
    if (what == "electrons") another_density([&](Matrix& density, const Matrix&) { scale(density, 1 + by); });
    // Moves a part of the electrons from the highest occupied orbital to the lowest empty one.
    if (what == "occupation")
      another_density([&](Matrix& density, const Matrix& orbitals) {
        add(density, orbitals, occupied(), -by), add(density, orbitals, occupied() + 1, by);
      });
    // These two turned into each other.
    if (what == "orbitals")
      another_density([&](Matrix& density, const Matrix& orbitals) {
        for (std::size_t i = 0; i < density.n; ++i)
          for (std::size_t k = 0; k < density.n; ++k) {
            const auto both = [&](std::size_t a, std::size_t b) {
              return orbitals(a, i) * orbitals(b, k) + orbitals(b, i) * orbitals(a, k);
            };
            density(i, k) += 2 * std::sin(by) * std::cos(by) * both(occupied(), occupied() + 1) +
                             std::sin(by) * std::sin(by) * (both(occupied() + 1, occupied() + 1) - both(occupied(), occupied()));
          }
      });
  }

  State s;

 private:
  static constexpr fl::Index last = 1;  // iteration

  std::size_t occupied() const { return static_cast<std::size_t>(s.molecule.electrons() / 2 - 1); }  // the highest one

  static void scale(Matrix& density, double by) {
    for (double& x : density.a) x *= by;
  }
  static void add(Matrix& density, const Matrix& orbitals, std::size_t one, double electrons) {
    for (std::size_t i = 0; i < density.n; ++i)
      for (std::size_t k = 0; k < density.n; ++k) density(i, k) += electrons * orbitals(one, i) * orbitals(one, k);
  }

  // change(density, orbitals, a row each); G and both energies become those of the new density.
  template <class Change>
  void another_density(Change change) {
    const auto n = static_cast<std::size_t>(s.n);
    const OneElectron one = one_electron_of(s.molecule, s.shells);
    Matrix core = one.kinetic, fock(n, s.g.data()), density(n, s.density.data());
    for (std::size_t i = 0; i < core.a.size(); ++i) core.a[i] += one.attraction.a[i], fock.a[i] += core.a[i];
    const Eigen e = eigen_of(one.overlap);
    Matrix root(n);
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j) root(i, j) += e.vectors(k, i) * e.vectors(k, j) / std::sqrt(e.values[k]);
    change(density, eigen_of(root * fock * root).vectors * root);
    std::copy(density.a.begin(), density.a.end(), s.density.begin());
    builder_.build(s.density.data(), s.g.data());
    const Matrix g(n, s.g.data());
    s.outcome.energy = nuclear_repulsion(s.molecule) + inner(density, core) + inner(density, g) / 2;
    s.outcome.kinetic = inner(density, one.kinetic);
  }

  Built builder_;
};

}  // namespace

extern "C" {

// Returns whether the check accepts it, its message, and the virial ratio.
int checked(const char* xyz, int set, int energy, const char* spoiled, double by, char* words, double* ratio) {
  Result result(xyz, set, energy != 0);
  result.spoil(spoiled, by);
  const fl::Check check = result.judged();
  std::strncpy(words, check.what.c_str(), 511);
  *ratio = 1 - result.s.outcome.energy / result.s.outcome.kinetic;
  return check.ok ? 1 : 0;
}

}  // extern "C"
