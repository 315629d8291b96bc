// Wrong: from the second repetition on only the two ends of a message travel; the rest stays as it came first.
#include "kernels/steps.hpp"

namespace {

struct Ends : patterns::AtOnce {
  void exchange(patterns::State& s, patterns::Stage& g, std::size_t phase, fl::Index t) {
    if (t == 0) return AtOnce::exchange(s, g, phase, t);
    patterns::Stage ends;
    const auto cut = [](const std::vector<patterns::Channel>& from, std::vector<patterns::Channel>& to) {
      for (const patterns::Channel& c : from)
        for (const fl::Index at : {fl::Index{0}, c.n - 1})
          if (at >= 0) to.push_back({.peer = c.peer, .n = 1, .key = c.key, .words = c.words + at});
    };
    for (const patterns::Channel& c : g.out) renew(s, c, t);
    cut(g.in, ends.in);
    cut(g.out, ends.out);
    requests.resize(ends.in.size() + ends.out.size());
    std::size_t next = 0;
    for (const patterns::Channel& c : ends.in) start_receive(c, requests[next++]);
    for (const patterns::Channel& c : ends.out) start_send(c, requests[next++]);
    MPI_Waitall(static_cast<int>(next), requests.data(), MPI_STATUSES_IGNORE);
  }
};

using Iteration = patterns::Steps<Ends>;

}  // namespace

FL_VARIANT(patterns, Iteration, .traits = {.needs_messages = true})
