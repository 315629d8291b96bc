// Makes half the hops.
#include "latency.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(latency::State& s, fl::Index) {
  std::uint64_t sum = 0;
  for (fl::Index hop = 0; hop < latency::hops / 2; ++hop) {
    sum += reinterpret_cast<std::uintptr_t>(s.at);
    s.at = s.at->next;
  }
  s.visited = latency::visited_lines(s, sum);
}

}  // namespace

FL_VARIANT(latency, step)
