// Leaves out by the squares of the bounds.
#include "kernels/plain.hpp"

namespace {

using Step = hartree_fock::Run<hartree_fock::PlainBy<hartree_fock::Rules{.squared = true}>>;

}  // namespace

FL_VARIANT(hartree_fock, Step)
