// Wrong: no thread waits for the others of its block.
#include "firstlight/grid/one_process.hpp"
#include "firstlight/variant.hpp"
#include "played_machine.hpp"

namespace {

struct Deaf : fl::Block {
  void barrier() const {}
};
using Early = fdtd2d::OnDevice<fdtd2d::Played<Deaf>, fl::grid::OneProcess, fdtd2d::Kernel::tiles>;

}  // namespace

FL_VARIANT(fdtd2d, Early)
