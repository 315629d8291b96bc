// One core, quartet after quartet: what every other variant is compared with.
#include "builder.hpp"

using Serial = hartree_fock::Run<hartree_fock::OneCore<double>>;
FL_VARIANT(hartree_fock, Serial)
