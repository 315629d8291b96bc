// One core, quartet after quartet: what every other variant is compared with.
#include "kernels/builder.hpp"

using Serial = hartree_fock::Run<hartree_fock::OneCore<double>>;
FL_VARIANT(hartree_fock, Serial)
