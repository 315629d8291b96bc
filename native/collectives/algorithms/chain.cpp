// Chain: every rank passes segments to the next rank as they come.
#include "firstlight/collectives/algorithm.hpp"
#include "ranks.hpp"

namespace fl::collectives {

namespace {

Schedule broadcast(const Problem& p) {
  return {.chunks = p.segments, .program = [p](Rank me, Program& out) {
            const Rank v = around(me - p.root, p.ranks);
            const Range message = train(0, p.segments);
            Op got = no_op;
            out.round(v - 1);
            if (v > 0) got = out.receive(around(me - 1, p.ranks), message);
            out.round(v);
            if (v + 1 < p.ranks) out.send(around(me + 1, p.ranks), message, {got});
          }};
}

Schedule reduce(const Problem& p) {
  return {.chunks = p.segments, .program = [p](Rank me, Program& out) {
            const Rank v = around(me - p.root, p.ranks);
            const Range vector = train(0, p.segments);
            Op sum = no_op;
            out.round(p.ranks - 2 - v);
            if (v + 1 < p.ranks) sum = out.combine(around(me + 1, p.ranks), vector);
            out.round(p.ranks - 1 - v);
            if (v > 0) out.send(around(me - 1, p.ranks), vector, {sum});
          }};
}

}  // namespace

FL_ALGORITHM(chain){.name = "chain",
                    .title = "pipeline along a chain",
                    .source = "Worringen 2003, Pipelining and Overlapping for MPI Collective Operations",
                    .forms = {{{Collective::broadcast, broadcast}, {Collective::reduce, reduce}}},
                    .pipelined = true};

}  // namespace fl::collectives
