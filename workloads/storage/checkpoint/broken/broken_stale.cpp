// Restores the generation before, which is complete and sound.
#include "kernels/saving.hpp"

namespace {

struct Stale : checkpoint::Lone<> {
  void step(checkpoint::State& s, fl::Index) {
    kept.save(number(s), s.block, s.field);
    s.record.journal = kept.journal();
    s.record.resident = 0;
    const std::uint64_t wanted = number(s) > 0 ? number(s) - 1 : 0;
    fl::during(checkpoint::phases("restart"), [&] { fl::checkpoints::restore(place, team, s.block, s.restored, wanted); });
    s.record.restored_generation = s.generation;
  }
};

}  // namespace

FL_VARIANT(checkpoint, Stale, .idle = true)
