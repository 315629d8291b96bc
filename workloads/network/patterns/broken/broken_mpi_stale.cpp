// Wrong: writes what is new only after it has sent, so that every rank receives the data of one repetition earlier.
#include "kernels/steps.hpp"

namespace {

struct Late : patterns::AtOnce {
  void exchange(patterns::State& s, patterns::Stage& g, std::size_t, fl::Index t) {
    requests.resize(g.in.size() + g.out.size());
    std::size_t next = 0;
    for (const patterns::Channel& c : g.in) start_receive(c, requests[next++]);
    for (const patterns::Channel& c : g.out) start_send(c, requests[next++]);
    MPI_Waitall(static_cast<int>(next), requests.data(), MPI_STATUSES_IGNORE);
    for (const patterns::Channel& c : g.out) renew(s, c, t);
  }
};

using Iteration = patterns::Steps<Late>;

}  // namespace

FL_VARIANT(patterns, Iteration, .traits = {.needs_messages = true})
