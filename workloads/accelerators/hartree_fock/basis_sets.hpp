// The basis sets STO-3G and 3-21G of hydrogen, carbon, nitrogen and oxygen, as published.
//
// Source: Basis Set Exchange, https://www.basissetexchange.org, both in version 0 (the data of the original exchange), read by its Python
// package, basis_set_exchange 0.12. B. P. Pritchard et al., J. Chem. Inf. Model. 59 (2019) 4814. The sets themselves:
// W. J. Hehre, R. F. Stewart, J. A. Pople, J. Chem. Phys. 51 (1969) 2657; J. S. Binkley, J. A. Pople, W. J. Hehre, J. Am. Chem. Soc. 102
// (1980) 939. The exchange's version 1 has the same functions with more digits: its energies differ in the eighth decimal.
#pragma once

#include <array>
#include <span>

namespace hartree_fock {

enum class BasisSet { sto_3g, three_21g };
inline constexpr const char* basis_sets = "STO-3G|3-21G";  // in the order of the enum

// Exponents in 1/bohr^2, coefficients of normalised primitives; with has_p an s and a p shell of the same exponents.
struct Published {
  int charge;
  int count;
  bool has_p;
  std::array<double, 3> exponent, s, p;
};

inline constexpr Published sto_3g[] = {
    {1, 3, false, {3.42525091, 0.62391373, 0.1688554}, {0.15432897, 0.53532814, 0.44463454}, {}},
    {6, 3, false, {71.616837, 13.045096, 3.5305122}, {0.15432897, 0.53532814, 0.44463454}, {}},
    {6, 3, true, {2.9412494, 0.6834831, 0.2222899}, {-0.09996723, 0.39951283, 0.70011547}, {0.15591627, 0.60768372, 0.39195739}},
    {7, 3, false, {99.106169, 18.052312, 4.8856602}, {0.15432897, 0.53532814, 0.44463454}, {}},
    {7, 3, true, {3.7804559, 0.8784966, 0.2857144}, {-0.09996723, 0.39951283, 0.70011547}, {0.15591627, 0.60768372, 0.39195739}},
    {8, 3, false, {130.70932, 23.808861, 6.4436083}, {0.15432897, 0.53532814, 0.44463454}, {}},
    {8, 3, true, {5.0331513, 1.1695961, 0.380389}, {-0.09996723, 0.39951283, 0.70011547}, {0.15591627, 0.60768372, 0.39195739}},
};
inline constexpr Published three_21g[] = {
    {1, 2, false, {5.447178, 0.824547}, {0.156285, 0.904691}, {}},
    {1, 1, false, {0.183192}, {1.0}, {}},
    {6, 3, false, {172.256, 25.9109, 5.53335}, {0.0617669, 0.358794, 0.700713}, {}},
    {6, 2, true, {3.66498, 0.770545}, {-0.395897, 1.21584}, {0.23646, 0.860619}},
    {6, 1, true, {0.195857}, {1.0}, {1.0}},
    {7, 3, false, {242.766, 36.4851, 7.81449}, {0.0598657, 0.352955, 0.706513}, {}},
    {7, 2, true, {5.42522, 1.14915}, {-0.413301, 1.22442}, {0.237972, 0.858953}},
    {7, 1, true, {0.283205}, {1.0}, {1.0}},
    {8, 3, false, {322.037, 48.4308, 10.4206}, {0.0592394, 0.3515, 0.707658}, {}},
    {8, 2, true, {7.40294, 1.5762}, {-0.404453, 1.22156}, {0.244586, 0.853955}},
    {8, 1, true, {0.373684}, {1.0}, {1.0}},
};

// The shells of an element; none of one that is not listed.
inline std::span<const Published> published_of(int charge, BasisSet set) {
  const std::span<const Published> all =
      set == BasisSet::sto_3g ? std::span<const Published>(sto_3g) : std::span<const Published>(three_21g);
  std::size_t first = 0, count = 0;
  while (first < all.size() && all[first].charge != charge) ++first;
  while (first + count < all.size() && all[first + count].charge == charge) ++count;
  return all.subspan(first, count);
}

}  // namespace hartree_fock
