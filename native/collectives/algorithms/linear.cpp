// Linear: one rank deals with all others, or all with all, at once. The baseline that needs no thought.
#include "firstlight/collectives/algorithm.hpp"
#include "ranks.hpp"

namespace fl::collectives {

namespace {

Schedule broadcast(const Problem& p) {
  return {.chunks = 1, .program = [p](Rank me, Program& out) {
            if (me != p.root) out.receive(p.root, chunks(0, 1));
            for (Rank k = 1; k < p.ranks && me == p.root; ++k) out.send(around(std::int64_t{me} + k, p.ranks), chunks(0, 1));
          }};
}

Schedule reduce(const Problem& p) {
  return {.chunks = 1, .program = [p](Rank me, Program& out) {
            if (me != p.root) out.send(p.root, chunks(0, 1));
            Op sum = no_op;
            for (Rank k = 1; k < p.ranks && me == p.root; ++k)
              sum = out.combine(around(std::int64_t{me} + k, p.ranks), chunks(0, 1), {sum});
          }};
}

Schedule allgather(const Problem& p) {
  return {.chunks = p.ranks, .symmetry = Symmetry::cyclic, .program = [p](Rank me, Program& out) {
            for (Rank k = 1; k < p.ranks; ++k) {
              const Rank from = around(me - k, p.ranks);
              out.receive(from, chunks(from, 1));
              out.send(around(std::int64_t{me} + k, p.ranks), chunks(me, 1));
            }
          }};
}

Schedule alltoall(const Problem& p) {
  return {.chunks = p.ranks, .symmetry = Symmetry::cyclic, .program = [p](Rank me, Program& out) {
            out.copy(chunks(me, 1), in(Space::input, chunks(me, 1)));
            for (Rank k = 1; k < p.ranks; ++k) {
              const Rank to = around(std::int64_t{me} + k, p.ranks), from = around(me - k, p.ranks);
              out.receive(from, chunks(from, 1));
              out.send(to, in(Space::input, chunks(to, 1)));
            }
          }};
}

}  // namespace

FL_ALGORITHM(linear){.name = "linear",
                     .title = "all messages simultaneously",
                     .source = "Chan, Heimlich, Purkayastha, van de Geijn 2007, Collective Communication: Theory, Practice, and Experience",
                     .forms = {{{Collective::broadcast, broadcast},
                                {Collective::reduce, reduce},
                                {Collective::allgather, allgather},
                                {Collective::alltoall, alltoall}}}};

}  // namespace fl::collectives
