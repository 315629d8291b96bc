// Pairwise exchange: in step k every rank sends to the rank k further on and hears from the one k before, one step after the other.
#include "firstlight/collectives/algorithm.hpp"
#include "ranks.hpp"

namespace fl::collectives {

namespace {

Schedule alltoall(const Problem& p) {
  return {.chunks = p.ranks, .symmetry = Symmetry::cyclic, .program = [p](Rank me, Program& out) {
            out.copy(chunks(me, 1), in(Space::input, chunks(me, 1)));
            Op sent = no_op, got = no_op;
            for (Rank k = 1; k < p.ranks; ++k) {
              const Rank to = around(std::int64_t{me} + k, p.ranks), from = around(me - k, p.ranks);
              out.round(k - 1);
              sent = out.send(to, in(Space::input, chunks(to, 1)), {sent, got});
              got = out.receive(from, chunks(from, 1));
            }
          }};
}

Schedule reduce_scatter(const Problem& p) {
  return {.chunks = p.ranks, .symmetry = Symmetry::cyclic, .program = [p](Rank me, Program& out) {
            Op sent = no_op, sum = no_op;
            for (Rank k = 1; k < p.ranks; ++k) {
              const Rank to = around(std::int64_t{me} + k, p.ranks);
              out.round(k - 1);
              sent = out.send(to, chunks(to, 1), {sent, sum});
              sum = out.combine(around(me - k, p.ranks), chunks(me, 1), {sum});
            }
          }};
}

}  // namespace

FL_ALGORITHM(pairwise){.name = "pairwise",
                       .title = "pairwise exchange",
                       .source = "Thakur, Rabenseifner, Gropp 2005, Optimization of Collective Communication Operations in MPICH",
                       .forms = {{{Collective::alltoall, alltoall}, {Collective::reduce_scatter, reduce_scatter}}}};

}  // namespace fl::collectives
