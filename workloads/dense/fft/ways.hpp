// How the parts of a transpose go from process to process. pack(q) writes what is for q, unpack(q) takes what came from it; keep()
// transposes what stays. out and in say where each part lies, in complex numbers.
#pragma once

#include "fft.hpp"

namespace fft::inline FL_ROLE {

// Parts of a buffer, one a process, behind each other.
struct Parts {
  std::vector<Index> begin{0};
  void add(Index size) { begin.push_back(begin.back() + size); }
  Index size(int q) const { return begin[static_cast<std::size_t>(q) + 1] - begin[static_cast<std::size_t>(q)]; }
  Complex* of(fl::Array<Complex>& buffer, int q) const { return buffer.data() + begin[static_cast<std::size_t>(q)]; }
};

struct Buffers {
  fl::Array<Complex> out, in;
  Parts to, from;
};

// One process keeps all.
struct Alone {
  template <class Pack, class Unpack, class Keep>
  void operator()(const fl::Team&, Buffers&, Pack, Unpack, Keep keep) {
    keep();
  }
};

}  // namespace fft::inline FL_ROLE
