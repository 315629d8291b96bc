// Rabenseifner: recursive halving leaves each rank a part of the sum; recursive doubling gathers the parts everywhere, a binomial
// tree at the root. Ranks beyond a power of two hand their vector to a neighbour first and get the sum from it last.
#include <vector>

#include "firstlight/collectives/algorithm.hpp"
#include "ranks.hpp"

namespace fl::collectives {

namespace {

struct Halved {
  Op sum;                 // the part of the sum is complete
  std::vector<Op> sends;  // of step log2(far)
};

Range part(Rank first, Rank count) { return chunks(first, count); }

// Halving among those that act; the part of number n is chunk n.
Halved halve(const Fold& fold, Rank number, Op sum, Program& out) {
  Halved made{sum, std::vector<Op>(static_cast<std::size_t>(logarithm(fold.power)), no_op)};
  for (Rank far = fold.power >> 1; far > 0; far >>= 1) {
    const Rank mine = number & -far, other = fold.actor(number ^ far);
    out.round(logarithm(fold.power) - logarithm(far));
    made.sends[static_cast<std::size_t>(logarithm(far))] = out.send(other, part(mine ^ far, far), {made.sum});
    made.sum = out.combine(other, part(mine, far), {made.sum});
  }
  return made;
}

Schedule allreduce(const Problem& p) {
  const Fold fold(p.ranks);
  return {
      .chunks = fold.power, .symmetry = fold.pairs == 0 ? Symmetry::exclusive : Symmetry::none, .program = [fold](Rank me, Program& out) {
        const Range all = part(0, fold.power);
        const std::int32_t steps = logarithm(fold.power), last = 2 * steps + 1;
        if (!fold.acts(me)) {
          const Op sent = out.send(fold.partner(me), all);
          out.round(last);
          out.receive(fold.partner(me), all, {sent}, 1);
          return;
        }
        const Rank number = fold.number(me);
        const Halved halved = halve(fold, number, fold.paired(me) ? out.combine(fold.partner(me), all) : no_op, out);
        std::vector<Op> got{halved.sum};
        auto after_all = [&] {
          for (const Op o : got) out.also(o);
        };
        for (Rank far = 1; far < fold.power; far <<= 1) {
          const Rank mine = number & -far, other = fold.actor(number ^ far);
          out.round(1 + steps + logarithm(far));
          out.send(other, part(mine, far), {}, 2);
          after_all();
          got.push_back(out.receive(other, part(mine ^ far, far), {halved.sends[static_cast<std::size_t>(logarithm(far))]}, 2));
        }
        out.round(last);
        if (fold.paired(me)) out.send(fold.partner(me), all, {}, 1), after_all();
      }};
}

Schedule reduce(const Problem& p) {
  const Fold fold(p.ranks, p.root);
  return {.chunks = fold.power, .program = [fold](Rank me, Program& out) {
            const Range all = part(0, fold.power);
            const std::int32_t steps = logarithm(fold.power);
            if (!fold.acts(me)) {
              out.send(fold.partner(me), all);
              return;
            }
            const Rank number = fold.number(me), to_root = number ^ fold.number(fold.root);
            const Halved halved = halve(fold, number, fold.paired(me) ? out.combine(fold.partner(me), all) : no_op, out);
            std::vector<Op> got{halved.sum};
            for (Rank far = 1; far < fold.power; far <<= 1) {
              const Rank mine = number & -far, other = fold.actor(number ^ far);
              out.round(1 + steps + logarithm(far));
              if ((to_root & far) != 0) {
                out.send(other, part(mine, far), {}, 2);
                for (const Op o : got) out.also(o);
                return;
              }
              got.push_back(out.receive(other, part(mine ^ far, far), {halved.sends[static_cast<std::size_t>(logarithm(far))]}, 2));
            }
          }};
}

}  // namespace

FL_ALGORITHM(rabenseifner){.name = "rabenseifner",
                           .title = "Rabenseifner: halving, then doubling or a tree",
                           .source = "Rabenseifner 2004, Optimization of Collective Reduction Operations",
                           .forms = {{{Collective::allreduce, allreduce}, {Collective::reduce, reduce}}}};

}  // namespace fl::collectives
