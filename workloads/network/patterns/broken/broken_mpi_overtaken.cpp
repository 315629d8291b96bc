// Wrong: of two messages in a row the second goes first, so that what was written earlier arrives later.
#include "kernels/steps.hpp"

namespace {

struct Overtaking : patterns::AtOnce {
  void exchange(patterns::State& s, patterns::Stage& g, std::size_t phase, fl::Index t) {
    requests.resize(g.in.size() + g.out.size());
    std::size_t next = 0;
    const fl::Index all = s.instance.phases[phase].repetitions * (s.steps > 0 ? s.steps : 1);
    const fl::Index other = (t ^ 1) < all ? t ^ 1 : t;
    for (const patterns::Channel& c : g.in) start_receive(c, requests[next++]);
    for (const patterns::Channel& c : g.out) {
      renew(s, c, other);
      start_send(c, requests[next++]);
    }
    MPI_Waitall(static_cast<int>(next), requests.data(), MPI_STATUSES_IGNORE);
  }
};

using Iteration = patterns::Steps<Overtaking>;

}  // namespace

FL_VARIANT(patterns, Iteration, .traits = {.needs_messages = true})
