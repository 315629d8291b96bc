// Recursive halving: in each round each rank exchanges half of what it still sums up with a rank half as far away as the one before.
// Ranks beyond a power of two hand their vector to a neighbour first and get their block from it last.
#include "firstlight/collectives/algorithm.hpp"
#include "ranks.hpp"

namespace fl::collectives {

namespace {

Schedule reduce_scatter(const Problem& p) {
  const Symmetry symmetry = power_of_two(p.ranks) ? Symmetry::exclusive : Symmetry::none;
  return {.chunks = p.ranks, .symmetry = symmetry, .program = [fold = Fold(p.ranks)](Rank me, Program& out) {
            const Rank number = fold.number(me), partner = fold.partner(me);
            const std::int32_t last = 1 + logarithm(fold.power);
            Op sum = no_op;
            if (!fold.acts(me)) {
              const Op sent = out.send(partner, chunks(0, fold.ranks));
              out.round(last);
              out.receive(partner, chunks(me, 1), {sent}, 1);
              return;
            }
            if (fold.paired(me)) sum = out.combine(partner, chunks(0, fold.ranks));
            for (Rank far = fold.power >> 1; far > 0; far >>= 1) {
              const Rank mine = number & -far, theirs = mine ^ far, other = fold.actor(number ^ far);
              out.round(last - 1 - logarithm(far));
              out.send(other, fold.blocks(theirs, theirs + far), {sum});
              sum = out.combine(other, fold.blocks(mine, mine + far), {sum});
            }
            out.round(last);
            if (fold.paired(me)) out.send(partner, chunks(partner, 1), {sum}, 1);
          }};
}

}  // namespace

FL_ALGORITHM(recursive_halving){.name = "recursive_halving",
                                .title = "recursive halving",
                                .source = "Thakur, Rabenseifner, Gropp 2005, Optimization of Collective Communication Operations in MPICH",
                                .forms = {{{Collective::reduce_scatter, reduce_scatter}}}};

}  // namespace fl::collectives
