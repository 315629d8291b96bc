// Closes the cycle early: the chase stays in a few lines near the core.
#include "latency.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Chase {
  void open(latency::State& s) {
    const latency::Scatter cycle = latency::scatter(s);
    const auto last = static_cast<fl::Index>(cycle.line_of(7));
    s.lines[last].next = s.at;
  }

  void step(latency::State& s, fl::Index) {
    std::uint64_t sum = 0;
    for (fl::Index hop = 0; hop < latency::hops; ++hop) {
      sum += reinterpret_cast<std::uintptr_t>(s.at);
      s.at = s.at->next;
    }
    s.visited = latency::visited_lines(s, sum);
  }
};

}  // namespace

FL_VARIANT(latency, Chase)
