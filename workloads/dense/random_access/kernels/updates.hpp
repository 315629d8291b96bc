// Updates of a part of the stream, in the ways that variants take.
#pragma once

#include "random_access.hpp"

namespace random_access {

// HPC Challenge's rule: no process may buffer more updates than these.
inline constexpr fl::Index look_ahead = 1024;

// Numbers of the stream that a process or thread computes: `count` from `first` on.
struct Share {
  Word first;
  fl::Index count;
};

inline Share share_of(const State& s, fl::Index part, fl::Index parts) {
  const fl::Part mine = fl::part(s.updates, parts, part);
  return {s.first + static_cast<Word>(mine.begin), mine.size()};
}

// One after the other.
template <class Update>
void each(const Share& share, Update update) {
  Word a = number(share.first);
  for (fl::Index k = 0; k < share.count; ++k, a = after(a)) update(a);
}

}  // namespace random_access
