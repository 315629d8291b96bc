// Ring: every rank passes one block to the next rank P - 1 times; bandwidth is all that counts, and every link of a ring is used once.
#include <vector>

#include "firstlight/collectives/algorithm.hpp"
#include "ranks.hpp"

namespace fl::collectives {

namespace {

// One part from the rank before, in each round; first of all sums, if there are any.
Rounds rounds(const Problem& p, bool sums, bool blocks) {
  const Rank once = p.ranks - 1, summed = sums ? once : 0;
  Rounds all{.receipts = [p, summed](Rank me, std::int32_t round, std::vector<Rounds::Receipt>& out) {
    out.push_back({around(me - 1, p.ranks), 1, round < summed});
  }};
  all.begins = sums && blocks ? std::vector{0, once, 2 * once} : std::vector{0, once};
  return all;
}

Schedule allgather(const Problem& p) {
  return {.chunks = p.ranks, .symmetry = Symmetry::cyclic, .rounds = rounds(p, false, true), .program = [p](Rank me, Program& out) {
            Op got = no_op;
            for (Rank k = 0; k + 1 < p.ranks; ++k) {
              out.round(k);
              out.send(around(me + 1, p.ranks), chunks(around(me - k, p.ranks), 1), {got});
              got = out.receive(around(me - 1, p.ranks), chunks(around(me - 1 - k, p.ranks), 1));
            }
          }};
}

Schedule reduce_scatter(const Problem& p) {
  return {.chunks = p.ranks, .symmetry = Symmetry::cyclic, .rounds = rounds(p, true, false), .program = [p](Rank me, Program& out) {
            Op sum = no_op;
            for (Rank k = 0; k + 1 < p.ranks; ++k) {
              out.round(k);
              out.send(around(me + 1, p.ranks), chunks(around(me - 1 - k, p.ranks), 1), {sum});
              sum = out.combine(around(me - 1, p.ranks), chunks(around(me - 2 - k, p.ranks), 1));
            }
          }};
}

Schedule allreduce(const Problem& p) {
  return {.chunks = p.ranks, .symmetry = Symmetry::cyclic, .rounds = rounds(p, true, true), .program = [p](Rank me, Program& out) {
            const Rank next = around(me + 1, p.ranks), before = around(me - 1, p.ranks);
            Op got = no_op;
            for (Rank k = 0; k + 1 < p.ranks; ++k) {
              out.round(k);
              out.send(next, chunks(around(me - 1 - k, p.ranks), 1), {got});
              got = out.combine(before, chunks(around(me - 2 - k, p.ranks), 1));
            }
            for (Rank k = 0; k + 1 < p.ranks; ++k) {
              out.round(p.ranks - 1 + k);
              out.send(next, chunks(around(me - k, p.ranks), 1), {got});
              const Op sent = 2 * k;  // the partial sum of this block, in the first half
              got = out.receive(before, chunks(around(me - 1 - k, p.ranks), 1), {sent});
            }
          }};
}

}  // namespace

FL_ALGORITHM(ring){
    .name = "ring",
    .title = "ring",
    .source = "Chan, Heimlich, Purkayastha, van de Geijn 2007, Collective Communication: Theory, Practice, and Experience",
    .forms = {{{Collective::allgather, allgather}, {Collective::reduce_scatter, reduce_scatter}, {Collective::allreduce, allreduce}}}};

}  // namespace fl::collectives
