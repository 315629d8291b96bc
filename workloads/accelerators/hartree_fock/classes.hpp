// The six classes of quartets of shells, by the p shells among bra and ket, in the order of published figures.
#pragma once

namespace hartree_fock {

struct Class {
  int bra, ket;  // sums of the angular momenta
  const char* name;
};
inline constexpr Class classes[] = {{0, 0, "ss,ss"}, {1, 0, "ps,ss"}, {1, 1, "ps,ps"}, {2, 0, "pp,ss"}, {2, 1, "pp,ps"}, {2, 2, "pp,pp"}};
inline constexpr int class_count = 6;

// The number of a class, bra >= ket.
constexpr int class_of(int bra, int ket) { return bra * (bra + 1) / 2 + ket; }

}  // namespace hartree_fock
