// The last quantum leaves out one multiplication.
#include "noise.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(noise::State& s, fl::Index) {
  noise::Party& p = s.parties[0];
  p.stamps[0] = noise::now();
  for (fl::Index q = 0; q < s.quanta; ++q) {
    p.results[q] = noise::do_work(noise::seed(s.iteration, q, 0), s.factor, q + 1 < s.quanta ? s.work : s.work - 1);
    p.stamps[q + 1] = noise::now();
  }
}

}  // namespace

FL_VARIANT(noise, step)
