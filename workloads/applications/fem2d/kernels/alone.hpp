// One process with one block: there is no process to sum or exchange with.
#pragma once

#include "fem2d.hpp"

namespace fem2d {

struct Alone {
  void sum(double*, fl::Index) {}
  void swap(Block&, std::size_t = 0) {}
};

}  // namespace fem2d
