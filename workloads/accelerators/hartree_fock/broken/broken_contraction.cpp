// Weighs the first primitive of each contraction by a millionth too much.
#include "kernels/plain.hpp"

namespace {

struct Contraction : hartree_fock::Plain {
  std::vector<hartree_fock::Shell> shells;  // pairs refer to them
  void prepare(hartree_fock::State& s) {
    shells = s.shells;
    for (auto& shell : shells) shell.coefficient[0] *= 1 + 1e-6;
    PlainBy::prepare(s, shells);
  }
};

using Step = hartree_fock::Run<Contraction>;

}  // namespace

FL_VARIANT(hartree_fock, Step)
