// Marks of another thread count nothing.
#include <thread>

#include "relaxed.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(relaxed::State& s, fl::Index) {
  std::thread([] { fl::In in(relaxed::phases("norm")); }).join();
  relaxed::begin(s);
  for (fl::Index k = 0; k < s.runs; ++k) relaxed::update(s);
}

}  // namespace

FL_VARIANT(relaxed, step)
