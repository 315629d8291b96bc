// Processes that draw tasks from one counter.
#include "processes.hpp"

FL_VARIANT(hartree_fock, hartree_fock::Run<hartree_fock::Processes<hartree_fock::Counter>>)
