// The kernels of devices on a processor: from one meeting of groups to the next in another way, as if drawn. An energy needs many
// matrices: each class meets each way.
#include "kernels/emulated.hpp"
#include "kernels/tuned.hpp"

struct InTurn {
  static constexpr bool stores = true;
  template <int bra, int ket, class Launch>
  static void run(Launch& launch, const hartree_fock::Meeting& m) {
    static std::uint64_t turn = 0;
    switch (fl::hash(turn++) % 3) {
      case 0:
        return hartree_fock::Fused<hartree_fock::Atomically>::run<bra, ket>(launch, m);
      case 1:
        return hartree_fock::Split::run<bra, ket>(launch, m);
      default:
        return hartree_fock::Tuned::run<bra, ket>(launch, m);
    }
  }
};

FL_VARIANT(hartree_fock, hartree_fock::Run<hartree_fock::OnFibers<InTurn>>)
