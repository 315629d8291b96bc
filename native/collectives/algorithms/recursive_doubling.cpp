// Recursive doubling: in round k each rank exchanges all that it has with the rank whose number differs in bit k. Ranks beyond a power of
// two send to a neighbour first and receive from it last.
#include <vector>

#include "firstlight/collectives/algorithm.hpp"
#include "ranks.hpp"

namespace fl::collectives {

namespace {

void exchange_sums(const Fold& fold, Rank me, const Range& vector, Program& out) {
  const Rank number = fold.number(me);
  Op sum = no_op;
  if (!fold.acts(me)) {
    const Op sent = out.send(fold.partner(me), vector);
    out.round(1 + logarithm(fold.power));
    out.receive(fold.partner(me), vector, {sent}, 1);
    return;
  }
  if (fold.paired(me)) sum = out.combine(fold.partner(me), vector);
  for (Rank far = 1; far < fold.power; far <<= 1) {
    out.round(1 + logarithm(far));
    const Rank other = fold.actor(number ^ far);
    const Op sent = out.send(other, vector, {sum});
    sum = out.combine(other, vector, {sum, sent});
  }
  out.round(1 + logarithm(fold.power));
  if (fold.paired(me)) out.send(fold.partner(me), vector, {sum}, 1);
}

Symmetry symmetry_of(const Problem& p) { return power_of_two(p.ranks) ? Symmetry::exclusive : Symmetry::none; }

Schedule allreduce(const Problem& p) {
  return {.chunks = p.segments, .symmetry = symmetry_of(p), .program = [p](Rank me, Program& out) {
            exchange_sums(Fold(p.ranks), me, train(0, p.segments), out);
          }};
}

Schedule barrier(const Problem& p) {
  return {.chunks = 0, .symmetry = symmetry_of(p), .program = [p](Rank me, Program& out) {
            exchange_sums(Fold(p.ranks), me, chunks(0, 0), out);
          }};
}

Schedule allgather(const Problem& p) {
  return {.chunks = p.ranks, .symmetry = symmetry_of(p), .program = [fold = Fold(p.ranks)](Rank me, Program& out) {
            const Rank number = fold.number(me), other = fold.partner(me);
            const std::int32_t last = 1 + logarithm(fold.power);
            if (!fold.acts(me)) {
              out.send(other, chunks(me, 1));
              out.round(last);
              if (me > 0) out.receive(other, chunks(0, me));
              out.receive(other, chunks(me + 1, fold.ranks - me - 1), {}, 1);
              return;
            }
            std::vector<Op> got;
            if (fold.paired(me)) got.push_back(out.receive(other, chunks(other, 1)));
            auto after_all = [&] {
              for (const Op o : got) out.also(o);
            };
            for (Rank far = 1; far < fold.power; far <<= 1) {
              const Rank mine = number & -far, theirs = mine ^ far, to = fold.actor(number ^ far);
              out.round(1 + logarithm(far));
              out.send(to, fold.blocks(mine, mine + far));
              after_all();
              got.push_back(out.receive(to, fold.blocks(theirs, theirs + far)));
            }
            if (!fold.paired(me)) return;
            out.round(last);
            if (other > 0) out.send(other, chunks(0, other)), after_all();
            out.send(other, chunks(other + 1, fold.ranks - other - 1), {}, 1);
            after_all();
          }};
}

}  // namespace

FL_ALGORITHM(recursive_doubling){
    .name = "recursive_doubling",
    .title = "recursive doubling",
    .source = "Thakur, Rabenseifner, Gropp 2005, Optimization of Collective Communication Operations in MPICH",
    .forms = {{{Collective::allreduce, allreduce}, {Collective::allgather, allgather}, {Collective::barrier, barrier}}},
    .pipelined = true};

}  // namespace fl::collectives
