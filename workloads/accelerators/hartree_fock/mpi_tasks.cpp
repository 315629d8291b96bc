// Processes that draw tasks from one counter.
#include "kernels/processes.hpp"

FL_VARIANT(hartree_fock, hartree_fock::Run<hartree_fock::Processes<hartree_fock::Counter>>)
