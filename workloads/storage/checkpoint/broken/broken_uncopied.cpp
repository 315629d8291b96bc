// The program goes on with the next time step before the state is copied: what is saved is not a state of the program.
#include "kernels/saving.hpp"

namespace {

struct Uncopied : checkpoint::Lone<checkpoint::InBackground> {
  void step(checkpoint::State& s, fl::Index iteration) {
    double& cell = s.field[{1, 2, 3}];
    const double old = cell;
    cell += 1;
    InBackground::step(s, iteration);
    cell = old;
  }
};

}  // namespace

FL_VARIANT(checkpoint, Uncopied, .traits = {.asynchronous = true}, .idle = true)
