// hartree_fock's reader of molecules, basis sets, plain integrals and eigenvalues, called from tests/workloads/accelerators/test_hartree_fock.py.
#include <cstring>

#include "matrix.hpp"
#include "one_electron.hpp"
#include "oracle.hpp"

using namespace hartree_fock;

extern "C" {

// Atoms of a file, four numbers each (charge and place in bohr), or -1 and why not.
int read_xyz(const char* content, long long size, double* atoms, char* why) {
  Molecule molecule;
  const std::string wrong = XyzReader(std::string_view(content, static_cast<std::size_t>(size))).read(molecule);
  std::strncpy(why, wrong.c_str(), 511);
  if (!wrong.empty()) return -1;
  for (const Atom& atom : molecule.atoms) {
    *atoms++ = atom.charge;
    for (const double x : atom.place) *atoms++ = x;
  }
  return static_cast<int>(molecule.atoms.size());
}

// Overlap, kinetic energy and attraction of a molecule, one after the other; returns the number of functions. `out` may be null.
int one_electron(const char* content, int set, double* out) {
  Molecule molecule;
  XyzReader(content).read(molecule);
  const auto shells = basis_of(molecule, static_cast<BasisSet>(set));
  if (out != nullptr) {
    const OneElectron one = one_electron_of(molecule, shells);
    for (const Matrix* m : {&one.overlap, &one.kinetic, &one.attraction}) out = std::copy(m->a.begin(), m->a.end(), out);
  }
  return functions_of(shells);
}

// (ij|kl) of four shells of a molecule, the first function of each.
double repulsion(const char* content, int set, int i, int j, int k, int l) {
  Molecule molecule;
  XyzReader(content).read(molecule);
  const auto shells = basis_of(molecule, static_cast<BasisSet>(set));
  const auto at = [&](int number) -> const Shell& { return shells[static_cast<std::size_t>(number)]; };
  return oracle::repulsion({at(i), at(j)}, {at(k), at(l)})[0];
}

// All (ij|kl) of a molecule's functions.
void repulsions(const char* content, int set, double* out) {
  Molecule molecule;
  XyzReader(content).read(molecule);
  const auto shells = basis_of(molecule, static_cast<BasisSet>(set));
  const int n = functions_of(shells);
  oracle::each_repulsion(shells, [&](int i, int j, int k, int l, double value) { out[((i * n + j) * n + k) * n + l] = value; });
}

void eigen(int n, const double* symmetric, double* values, double* vectors) {
  const Eigen found = eigen_of(Matrix(static_cast<std::size_t>(n), symmetric));
  std::copy(found.values.begin(), found.values.end(), values);
  std::copy(found.vectors.a.begin(), found.vectors.a.end(), vectors);
}

}  // extern "C"
