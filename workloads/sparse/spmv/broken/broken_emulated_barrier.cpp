// Wrong: compressed rows without a barrier, so that a thread may add up products that its neighbour has yet to bring.
#include "kernels/emulated_machine.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Deaf : fl::Block {
  void barrier() const {}
};

using csr = spmv::CsrOnDevice<spmv::EmulatedMachine<Deaf>>;

constexpr fl::Kernel table[] = {FL_KERNEL(spmv, csr)};

}  // namespace

FL_KERNELS(spmv, table)
