// Misses those uses of an integral in the exchange that its last two functions have in the other order.
#include "kernels/plain.hpp"

namespace {

using Step = hartree_fock::Run<hartree_fock::PlainBy<hartree_fock::Rules{.turned = false}>>;

}  // namespace

FL_VARIANT(hartree_fock, Step)
