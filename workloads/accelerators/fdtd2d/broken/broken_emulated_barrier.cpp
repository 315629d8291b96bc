// Wrong: no thread waits for the others of its block.
#include "firstlight/grid/one_process.hpp"
#include "firstlight/variant.hpp"
#include "kernels/emulated_machine.hpp"

namespace {

struct Deaf : fl::Block {
  void barrier() const {}
};
using Early = fdtd2d::OnDevice<fdtd2d::Emulated<Deaf>, fl::grid::OneProcess, fdtd2d::Kernel::tiles>;

}  // namespace

FL_VARIANT(fdtd2d, Early)
