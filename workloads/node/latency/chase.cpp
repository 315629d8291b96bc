// The chase itself: no access can begin before the one ahead of it has ended.
#include "latency.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(latency::State& s, fl::Index) {
  constexpr int unrolled = 16;
  const latency::Line* at = s.at;
  std::uint64_t sum = 0;  // off the chain: it costs no time
  for (fl::Index hop = 0; hop < latency::hops; hop += unrolled) {
    for (int k = 0; k < unrolled; ++k) {
      sum += reinterpret_cast<std::uintptr_t>(at);
      at = at->next;
    }
  }
  s.at = const_cast<latency::Line*>(at);
  s.visited = latency::visited_lines(s, sum);
}

}  // namespace

FL_VARIANT(latency, step)
