// A counter that is read and increased by two operations: two processes draw the same number and count its tasks twice, the next is lost.
#include "kernels/processes.hpp"

struct Racing : hartree_fock::Counter {
  long long next(long long first) const { return Counter::next(first) / 2 * 2; }
};

FL_VARIANT(hartree_fock, hartree_fock::Run<hartree_fock::Processes<Racing>>)
