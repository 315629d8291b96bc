// hartree_fock: the two-electron part of restricted Hartree-Fock over s and p Gaussians (R4's molecular orbitals),
//   G_mn = sum over l, s of D_ls [(mn|ls) - 1/2 (ml|ns)],
// from integrals that are computed anew each time (direct). A step is one such matrix of a given density (task=matrix), or the whole
// self-consistent field to an energy (task=energy).
//
// Quartets of shells in canonical order, i >= j, k >= l, (ij) >= (kl), fall into six classes; a quartet whose Schwarz bound Q_ij Q_kl is tau
// or less is left out. In every step the molecule is turned and moved: nothing of a geometry outlives a step.
#pragma once

#include <algorithm>
#include <string>

#include "classes.hpp"
#include "firstlight/input_mutator.hpp"
#include "molecules.hpp"
#include "shells.hpp"

namespace hartree_fock {

enum class Task { matrix, energy };

struct Params {
  fl::Document molecule{"water", ""};
  BasisSet basis = BasisSet::sto_3g;
  Task task = Task::matrix;
  double tau = 1e-10;
  void declare(fl::Fields& fields) {
    fields.file("molecule", molecule, fl::options(shipped).c_str(), "molecule: a name, or an XYZ file in angstrom");
    fields.choice("basis", basis, basis_sets, "set of basis functions");
    fields.choice("task", task, "matrix|energy", "one matrix G for a given density, or the energy of the self-consistent field");
    fields.real("tau", tau, "hartree", 0, 1e-6, "quartets with a Schwarz bound of at most tau are skipped");
  }
};

inline constexpr fl::Phases phases{"pairs", "ssss", "psss", "psps", "ppss", "ppps", "pppp", "sums", "one_electron", "diagonalise", "diis"};
inline constexpr fl::Phase class_phases[class_count] = {phases("ssss"), phases("psss"), phases("psps"),
                                                        phases("ppss"), phases("ppps"), phases("pppp")};

inline constexpr double converged = 1e-7;  // largest element of FDS - SDF, between orthonormal functions: energies are then off by 1e-13
inline constexpr fl::Index most_iterations = 100;

struct Outcome {
  std::array<fl::Index, class_count> quartets{};  // of the last G, of shells: those that were computed, on this process
  fl::Index iterations = 0;                       // matrices G that were built
  double energy = 0, kinetic = 0, commutator = 0;
};

struct State {
  Params p;
  fl::Team team;
  Molecule start, molecule;   // as the file has it; as it is in this step
  std::vector<Shell> shells;  // of `molecule`
  fl::Index n = 0;            // functions
  fl::Array<double> density;  // n x n, symmetric: given, or the result
  fl::Array<double> g;        // n x n, the result
  fl::InputMutator changing;  // which pairs of `density` change
  Outcome outcome;
};

inline constexpr fl::About about{
    .title = "Hartree-Fock",
    .cost = "Quartets of shells above the Schwarz threshold, by class",
    .verified =
        "Elements of G, compared with integrals from Hermite expansion: all for small molecules, random blocks for large ones. The "
        "number of quartets. For an energy also idempotency, the commutator with the Fock matrix, the number of iterations and the "
        "published value.",
    .tolerance = "1e-9 for G; for energies the larger of 1e-9 hartree and 100 tau",
    .phases = phases,
};

inline constexpr fl::Metric metrics[] = {
    {"time", "ms", "elements", "time", 1e3, "lower"},
    {"ssss_time", "ns", "operations", "time", 1e9, "lower", phases("ssss")},  // of a quartet, as those that follow
    {"psss_time", "ns", "operations", "time", 1e9, "lower", phases("psss")},
    {"psps_time", "ns", "operations", "time", 1e9, "lower", phases("psps")},
    {"ppss_time", "ns", "operations", "time", 1e9, "lower", phases("ppss")},
    {"ppps_time", "ns", "operations", "time", 1e9, "lower", phases("ppps")},
    {"pppp_time", "ns", "operations", "time", 1e9, "lower", phases("pppp")},
    {"iterations", "iterations", "iterations", "value", 1, "lower"},
};

// Null for a user's molecule.
inline const Shipped* shipped_of(const Params& p) {
  if (!p.molecule.text.empty()) return nullptr;
  return std::find_if(std::begin(shipped), std::end(shipped), [&](const Shipped& one) { return one.name == p.molecule.name; });
}

// Empty, or what is wrong with the file.
inline std::string read(const Params& p, Molecule& molecule) {
  const Shipped* own = shipped_of(p);
  return XyzReader(own != nullptr ? std::string_view(own->text) : p.molecule.text).read(molecule);
}

inline std::string refuse(const Params& p, const fl::Team&) {
  Molecule molecule;
  const std::string wrong = read(p, molecule);
  if (wrong.empty()) return "";
  const std::string file = p.molecule.name.substr(0, p.molecule.name.rfind('-'));  // without its hash
  constexpr std::string_view line = "line ";
  return file + ":" + (wrong.starts_with(line) ? wrong.substr(line.size()) : " " + wrong);  // mine.xyz:4: what
}

// The density that is given, of a pair of functions that changed last in this iteration, or never (-1).
inline double given(fl::Index pair, fl::Index iteration) {
  return fl::uniform(static_cast<std::uint64_t>(pair) * 0x100000001b3ull + static_cast<std::uint64_t>(iteration + 1));
}

inline fl::Index pair_of(fl::Index i, fl::Index k) { return i * (i + 1) / 2 + k; }  // i >= k
inline void set(State& s, fl::Index pair, double value) {
  auto i = static_cast<fl::Index>((std::sqrt(8 * static_cast<double>(pair) + 1) - 1) / 2);
  while (pair_of(i + 1, 0) <= pair) ++i;
  while (pair_of(i, 0) > pair) --i;
  const fl::Index k = pair - pair_of(i, 0);
  s.density[i * s.n + k] = s.density[k * s.n + i] = value;
}

// One of the 24 rotations of a cube, which turn x, y, z into each other without rounding: never that of the step before or of the first.
// And a displacement of up to half a bohr.
inline void place(State& s, fl::Index iteration) {
  constexpr int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
  const fl::Index rotation = iteration == 0 ? 0 : 1 + iteration % 23, order = rotation % 6;
  const double first = rotation / 6 % 2 == 0 ? 1 : -1, second = rotation / 12 == 0 ? 1 : -1;
  const double signs[3] = {first, second, first * second * (order < 3 ? 1 : -1)};  // no reflection
  const std::uint64_t drawn = fl::hash(static_cast<std::uint64_t>(iteration));
  for (std::size_t k = 0; k < s.start.atoms.size(); ++k)
    for (std::size_t x = 0; x < 3; ++x)
      s.molecule.atoms[k].place[x] = signs[x] * s.start.atoms[k].place[static_cast<std::size_t>(orders[order][x])] +
                                     fl::uniform(drawn + static_cast<std::uint64_t>(x));
  for (Shell& shell : s.shells) shell.centre = s.molecule.atoms[static_cast<std::size_t>(shell.atom)].place;
}

inline void mutate_inputs(State& s, fl::Index iteration) {
  place(s, iteration);
  if (s.p.task == Task::matrix) s.changing.mutate_inputs(iteration, [&](fl::Index pair) { set(s, pair, given(pair, iteration)); });
}

inline fl::Index mutate_between_batches(State& s, fl::Index next) {
  if (s.p.task == Task::energy) return next;
  return s.changing.mutate_between_batches(next, [&](fl::Index iteration) { mutate_inputs(s, iteration); });
}

inline void init(State& s, const Params& p, const fl::Team& team) {
  s.p = p, s.team = team;
  if (const std::string wrong = read(p, s.start); !wrong.empty()) fl::abort_all(wrong);
  s.molecule = s.start;
  s.shells = basis_of(s.molecule, p.basis);
  s.n = functions_of(s.shells);
  s.density = fl::Array<double>(s.n * s.n);
  s.g = fl::Array<double>(s.n * s.n);
  s.changing = fl::InputMutator(pair_of(s.n, 0), fl::InputMutator::most, true);
  for (fl::Index pair = 0; pair < pair_of(s.n, 0); ++pair) set(s, pair, given(pair, -1));
}

inline void poison(State& s) {
  fl::poison(s.g.data(), s.g.size());
  if (s.p.task == Task::energy) fl::poison(s.density.data(), s.density.size());
  s.outcome = {};
}

}  // namespace hartree_fock

#ifdef FL_JUDGE
#include "judge.hpp"
#endif
