// A sum is taken for known before it is: it is that of the iteration before.
#include <algorithm>

#include "kernels/processes.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Hasty : cg::Process {
  double before[3] = {}, *values = nullptr;
  int count = 0, sums = 0;

  void start(double* first, int n) {
    values = first;
    count = n;
    Process::start(first, n);
  }
  void finish() {
    Process::finish();
    if (count > 3) return;
    if (++sums > 4)
      std::swap_ranges(before, before + 1, values);
    else
      before[0] = values[0];
  }
};

using Step = cg::Processes<Hasty>;

}  // namespace

FL_VARIANT(cg, Step)
