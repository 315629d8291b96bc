// A format in one thread of one process.
#pragma once

#include <optional>

#include "formats.hpp"

namespace spmv {

template <class Format>
struct OneThread {
  std::optional<Format> a;

  void open(State& s) { a.emplace(Csr(s)); }
  void step(State& s, fl::Index) { a->multiply(s.x.data(), s.y.data(), s.scale, {0, a->units()}); }
};

}  // namespace spmv
