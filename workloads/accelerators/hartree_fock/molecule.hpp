// A molecule, and the reader of XYZ files: a line with the number of atoms, a line of comment, then "O 0.0 0.0 0.1" for each, in angstrom.
#pragma once

#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "firstlight/line_reader.hpp"

namespace hartree_fock {

using Point = std::array<double, 3>;

struct Atom {
  int charge = 0;  // of the nucleus
  Point place{};   // bohr
};

struct Molecule {
  std::vector<Atom> atoms;
  int electrons() const {
    int sum = 0;
    for (const Atom& atom : atoms) sum += atom.charge;
    return sum;
  }
};

inline constexpr double angstrom_per_bohr = 0.52917721092;  // CODATA 2010, as in the code that the reference energies come from
inline constexpr std::size_t most_atoms = 100;
// Angstrom: of an atom from the origin, and of two from each other. No bond is shorter than 0.7; at 0.2 functions of 3-21G begin to be the same.
inline constexpr double farthest = 1000, nearest = 0.3;
struct Element {
  std::string_view symbol;
  int charge;
};
inline constexpr Element elements[] = {{"H", 1}, {"C", 6}, {"N", 7}, {"O", 8}};

inline double distance(const Point& a, const Point& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

class XyzReader {
 public:
  explicit XyzReader(std::string_view text) : file_(text, " \t") {}

  // Fills `molecule`; returns what is wrong and in which line, empty where nothing is.
  std::string read(Molecule& molecule) {
    int count = 0;
    if (const std::string wrong = read_count(count); !wrong.empty()) return wrong;
    if (!file_.next_line()) return here("the line of comment is missing");
    for (int k = 0; k < count; ++k) {
      if (!file_.next_line()) return here(fl::text("atom %d of %d is missing", k + 1, count));
      if (const std::string wrong = read_atom(molecule); !wrong.empty()) return wrong;
    }
    while (file_.next_line())
      if (!file_.blank()) return here(fl::text("more than the %d atoms of the first line", count));
    if (molecule.electrons() % 2 != 0)
      return fl::text("%d electrons: an odd number, and this program computes closed shells only", molecule.electrons());
    return "";
  }

 private:
  std::string here(const std::string& what) const { return fl::text("line %lld: %s", file_.number(), what.c_str()); }

  std::string read_count(int& count) {
    if (!file_.next_line()) return here("the number of atoms is missing");
    const std::string_view first = file_.word();
    if (!fl::parse_number(first, count) || count < 1 || count > static_cast<int>(most_atoms) || !file_.blank())
      return here(
          fl::text("expected the number of atoms, from 1 to %d, not \"%s\"", static_cast<int>(most_atoms), fl::printable(first).c_str()));
    return "";
  }

  std::string read_atom(Molecule& molecule) {
    const std::string_view symbol = file_.word();
    Atom atom;
    for (const Element& element : elements)
      if (element.symbol == symbol) atom.charge = element.charge;
    if (atom.charge == 0) return here(fl::text("the element \"%s\" is not one of H, C, N, O", fl::printable(symbol).c_str()));
    for (double& x : atom.place) {
      const std::string_view number = file_.word();
      if (!fl::parse_number(number, x) || !(std::abs(x) <= farthest))
        return here(fl::text("\"%s\" should be a coordinate in angstrom, at most %g", fl::printable(number).c_str(), farthest));
      x /= angstrom_per_bohr;
    }
    if (!file_.blank()) return here("more than an element and three coordinates");
    for (std::size_t k = 0; k < molecule.atoms.size(); ++k)
      if (distance(molecule.atoms[k].place, atom.place) < nearest / angstrom_per_bohr)
        return here(fl::text("nearer than %g angstrom to atom %d", nearest, static_cast<int>(k) + 1));
    molecule.atoms.push_back(atom);
    return "";
  }

  fl::LineReader file_;
};

inline double nuclear_repulsion(const Molecule& molecule) {
  double sum = 0;
  for (std::size_t i = 0; i < molecule.atoms.size(); ++i)
    for (std::size_t k = 0; k < i; ++k)
      sum += molecule.atoms[i].charge * molecule.atoms[k].charge / distance(molecule.atoms[i].place, molecule.atoms[k].place);
  return sum;
}

}  // namespace hartree_fock
