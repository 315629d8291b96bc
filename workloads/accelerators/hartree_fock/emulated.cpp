// The kernels of devices on a processor: all ways in turn, from one meeting of groups to the next. There is an odd number of ways, and an
// energy takes many matrices: each class meets each way.
#include "emulated.hpp"

struct InTurn {
  static constexpr bool stores = true;
  template <int bra, int ket, class Launch>
  static void run(Launch& launch, const hartree_fock::Meeting& m) {
    static int turn = 0;
    if (turn++ % 2 == 0)
      hartree_fock::Fused<hartree_fock::Atomically>::run<bra, ket>(launch, m);
    else
      hartree_fock::Split::run<bra, ket>(launch, m);
  }
};

FL_VARIANT(hartree_fock, hartree_fock::Run<hartree_fock::OnFibers<InTurn>>)
