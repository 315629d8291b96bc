// What a rank sends to another is the block next to the right one.
#include "kernels/altered.hpp"

namespace {

void shift(fl::collectives::Schedule& schedule) {
  const fl::collectives::Chunk chunks = schedule.chunks;
  collectives::alter_programs(schedule, [chunks](fl::collectives::Program& program) {
    using fl::collectives::Kind;
    for (fl::collectives::Operation& o : program.edit())
      if (o.kind == Kind::send) o.range.first = (o.range.first + 1) % chunks;
  });
}

}  // namespace

FL_ALTERED(paced, shift)
