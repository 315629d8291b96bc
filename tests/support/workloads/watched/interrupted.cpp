// Stops once, in the first batch of the calibration, for as long as an operating system may interrupt a process.
#include "watched.hpp"

#include <chrono>
#include <thread>

#include "firstlight/variant.hpp"

namespace {

void step(watched::State& s, fl::Index iteration) {
  if (iteration == 1) std::this_thread::sleep_for(std::chrono::milliseconds(15));
  watched::sum(s);
}

}  // namespace

FL_VARIANT(watched, step)
