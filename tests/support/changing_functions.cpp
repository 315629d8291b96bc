// Exports native/harness/include/firstlight/input_mutator.hpp with C linkage for tests.
#include "firstlight/input_mutator.hpp"

namespace {
std::uint64_t drawn = 1;
fl::InputMutator changing;  // as the last follow() left it
}  // namespace
std::uint64_t fl::seed() { return drawn; }

extern "C" {

void set_seed(unsigned long long seed) { drawn = seed; }

// Writes each step's iteration where something changes, as mutate_inputs() and mutate_between_batches() do, over `batches` of so many steps; returns the last.
long long follow(long long size, long long places, int always, int batches, long long steps, long long* held) {
  changing = fl::InputMutator(size, places, always != 0);
  fl::Index next = 0;
  const auto mutate = [&](fl::Index iteration) { changing.mutate_inputs(iteration, [&](fl::Index i) { held[i] = iteration; }); };
  for (int batch = 0; batch < batches; ++batch) {
    next = changing.mutate_between_batches(next, mutate);
    for (const fl::Index end = next + steps; next < end; ++next) mutate(next);
  }
  return next - 1;
}

// Writes the iterations in which the `size` inputs of the last follow() changed.
void ages(long long size, long long last, long long* out) {
  const fl::ChangeLog found(changing, last);
  for (fl::Index i = 0; i < size; ++i) out[i] = found.of(i, -1);
}

int any_in(long long last, long long first, long long end) { return fl::ChangeLog(changing, last).any_in(first, end); }

// Writes the places that the touches of `steps` steps from `first` on reach, as a step may look them up.
void shown(long long first, long long steps, long long* out) {
  for (fl::Index i = first; i < first + steps; ++i) changing.mutate_inputs(i, [&](fl::Index place) { out[i - first] = place; });
}

}  // extern "C"
