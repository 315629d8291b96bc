// Hypercube: in each dimension whole vectors are exchanged and added. For powers of two only; what finite-element codes use.
#include "firstlight/collectives/algorithm.hpp"
#include "ranks.hpp"

namespace fl::collectives {

namespace {

Schedule allreduce(const Problem& p) {
  need_power_of_two(p, "a hypercube");
  return {.chunks = 1, .symmetry = Symmetry::exclusive, .program = [p](Rank me, Program& out) {
            Op sum = no_op;
            for (Rank far = 1; far < p.ranks; far <<= 1) {
              out.round(logarithm(far));
              const Op sent = out.send(me ^ far, chunks(0, 1), {sum});
              sum = out.combine(me ^ far, chunks(0, 1), {sum, sent});
            }
          }};
}

}  // namespace

FL_ALGORITHM(hypercube){.name = "hypercube",
                        .title = "exchange along a hypercube",
                        .source = "Douglas, Haase, Langer 2003, A Tutorial on Elliptic PDE Solvers and Their Parallelization",
                        .forms = {{{Collective::allreduce, allreduce}}}};

}  // namespace fl::collectives
