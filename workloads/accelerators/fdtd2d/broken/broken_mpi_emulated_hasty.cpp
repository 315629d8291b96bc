// Wrong: halos are packed before the kernels have ended that compute them.
#include "firstlight/grid/mpi.hpp"
#include "firstlight/variant.hpp"
#include "kernels/emulated_machine.hpp"

namespace {

struct Hasty : fdtd2d::Emulated<> {
  struct Queue : fl::EmulatedQueue {
    void after_kernels() {}
  };
};
using Early = fdtd2d::OnDevice<Hasty, fl::grid::Mpi, fdtd2d::Kernel::cells>;

}  // namespace

FL_VARIANT(fdtd2d, Early)
