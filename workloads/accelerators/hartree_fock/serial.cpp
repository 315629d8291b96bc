// One core, quartet after quartet: what every other variant is compared with.
#include "plain.hpp"

namespace {

using Serial = hartree_fock::Run<hartree_fock::Plain>;

}  // namespace

FL_VARIANT(hartree_fock, Serial)
