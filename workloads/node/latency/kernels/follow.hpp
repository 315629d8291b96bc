// Follows the pointers: no access can begin before the previous one has ended.
#pragma once

#include "latency.hpp"

namespace latency {

inline void follow(State& s) {
  constexpr int unrolled = 16;
  const Line* at = s.at;
  std::uint64_t sum = 0;  // is not part of the chain, so it adds no latency
  for (fl::Index hop = 0; hop < hops; hop += unrolled) {
    for (int k = 0; k < unrolled; ++k) {
      sum += reinterpret_cast<std::uintptr_t>(at);
      at = at->next;
    }
  }
  s.at = const_cast<Line*>(at);
  s.visited = visited_lines(s, sum);
}

}  // namespace latency
