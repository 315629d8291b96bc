// Neighbour exchange: pairs of neighbours swap what they got last, with the rank on the left and the one on the right by turns.
#include <array>

#include "firstlight/collectives/algorithm.hpp"
#include "ranks.hpp"

namespace fl::collectives {

namespace {

Schedule allgather(const Problem& p) {
  if (p.ranks % 2 != 0) throw Refused("neighbour exchange needs an even number of ranks; " + std::to_string(p.ranks) + " given");
  return {.chunks = p.ranks, .program = [p](Rank me, Program& out) {
            const Rank away = me % 2 == 0 ? 1 : -1;  // to the other one of the first pair
            const std::array<Rank, 2> neighbours{around(me + away, p.ranks), around(me - away, p.ranks)};
            out.send(neighbours[0], chunks(me, 1));
            Op got = out.receive(neighbours[0], chunks(neighbours[0], 1));
            Rank gives = me - me % 2;
            std::array<Rank, 2> takes{gives, gives};
            for (Rank step = 1; step < p.ranks / 2; ++step) {
              const auto side = static_cast<std::size_t>(step % 2);
              Rank& comes = takes[side];
              comes = around(comes + 2 * away * (side == 0 ? 1 : -1), p.ranks);
              out.round(step);
              out.send(neighbours[side], chunks(gives, 2), {got});
              got = out.receive(neighbours[side], chunks(comes, 2));
              gives = comes;
            }
          }};
}

}  // namespace

FL_ALGORITHM(neighbour_exchange){
    .name = "neighbour_exchange",
    .title = "neighbour exchange",
    .source = "Chen, Zhang, Zhang, Zheng 2005, Performance Evaluation of Allgather Algorithms on Terascale Linux Cluster",
    .forms = {{{Collective::allgather, allgather}}}};

}  // namespace fl::collectives
