// One update is made twice, which undoes it.
#include "kernels/hypercube.hpp"

#include "firstlight/variant.hpp"

namespace {

using random_access::State, random_access::Word;

struct Twice : random_access::Hypercube {
  void step(State& s, fl::Index iteration) {
    Hypercube::step(s, iteration);
    const random_access::Owners owners(s);
    const Word first = random_access::number(s.first);
    if (owners.of(first) == s.team.rank) random_access::Mine(s, owners).update(first);
  }
};

}  // namespace

FL_VARIANT(random_access, Twice, .traits = {.power_of_two = true})
