// Dissemination: in round k every rank notifies the rank 2^k further on, and hears from the one 2^k before.
#include "firstlight/collectives/algorithm.hpp"

namespace fl::collectives {

namespace {

Schedule barrier(const Problem& p) {
  return {.chunks = 0, .symmetry = Symmetry::cyclic, .program = [p](Rank me, Program& out) {
            const Range nothing{.count = 0};
            Op heard = no_op, sent = no_op;
            std::int32_t round = 0;
            for (std::int64_t far = 1; far < p.ranks; far <<= 1, ++round) {
              out.round(round);
              const auto next = static_cast<Rank>((me + far) % p.ranks);
              const auto before = static_cast<Rank>((me - far + p.ranks) % p.ranks);
              const Op sending = out.send(next, nothing, {heard}, round);
              out.also(sent, true);  // so that a send waits for the receives of all rounds before, not only the last one
              sent = sending;
              heard = out.receive(before, nothing, {}, round);
            }
          }};
}

}  // namespace

FL_ALGORITHM(dissemination){.name = "dissemination",
                            .title = "dissemination",
                            .source = "Hensgen, Finkel, Manber 1988, Two Algorithms for Barrier Synchronization",
                            .forms = {{{Collective::barrier, barrier}}}};

}  // namespace fl::collectives
