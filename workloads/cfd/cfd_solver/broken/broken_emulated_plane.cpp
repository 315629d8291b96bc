// Wrong on purpose: of each two hyperplanes the one that needs the other comes first.
#include "../emulated_machine.hpp"
#include "kernels/device_solvers.hpp"

namespace {

struct Hasty : cfd::EmulatedMachine {
  template <class Work>
  void each(const Work& work) {
    EmulatedMachine::each(work);
  }
  template <class Cell>
  void each(const cfd::Hyperplane<Cell>& work) {
    if (work.plane % 2 == 1) EmulatedMachine::each(work);
    cfd::Hyperplane<Cell> other = work;
    --other.plane;
    if (work.plane % 2 == 1) EmulatedMachine::each(other);
  }
};

using sip = cfd_solver::StoneOnDevice<Hasty>;

constexpr fl::Kernel table[] = {FL_KERNEL(cfd_solver, sip)};

}  // namespace

FL_KERNELS(cfd_solver, table)
