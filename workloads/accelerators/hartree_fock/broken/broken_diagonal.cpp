// Counts quartets twice that hold a shell or a pair twice.
#include "kernels/plain.hpp"

namespace {

using Step = hartree_fock::Run<hartree_fock::PlainBy<hartree_fock::Rules{.twice = 1}>>;

}  // namespace

FL_VARIANT(hartree_fock, Step)
