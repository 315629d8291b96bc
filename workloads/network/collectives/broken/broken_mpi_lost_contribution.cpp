// The first contribution to a sum is received over what is there, instead of being added.
#include "kernels/altered.hpp"

namespace {

void lose(fl::collectives::Schedule& schedule) {
  collectives::alter_programs(schedule, [](fl::collectives::Program& program) {
    using fl::collectives::Kind;
    for (fl::collectives::Operation& o : program.edit())
      if (o.kind == Kind::combine) {
        o.kind = Kind::receive;
        return;
      }
  });
}

}  // namespace

FL_ALTERED(recursive_doubling, lose)
