// Goes on without waiting for the others.
#include <mpi.h>

#include "noise.hpp"

#include "firstlight/variant.hpp"

namespace {

void step(noise::State& s, fl::Index) {
  noise::Party& p = s.parties[0];
  p.stamps[0] = noise::now();
  for (fl::Index q = 0; q < s.quanta; ++q) {
    p.results[q] = noise::do_work(noise::seed(s.iteration, q, s.team.rank), s.factor, s.work);
    p.stamps[2 * q + 1] = noise::now();
    p.sums[q] = p.results[q];
    p.stamps[2 * q + 2] = noise::now();
  }
}

}  // namespace

FL_VARIANT(noise, step, .traits = noise::waiting)
