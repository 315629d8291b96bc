// Distance halving: recursive doubling that begins with the farthest rank, when there is little to send, and comes nearer while messages
// grow; by turns along the axes of a torus. What a rank has stays contiguous since an exchange beforehand gives process q, which meets
// its partners along the bits b_0, b_1, ... of its rank, the block whose number has bit b_t of q as its bit t. Time reversed, it
// scatters a reduction.
#include <vector>

#include "firstlight/collectives/algorithm.hpp"
#include "ranks.hpp"

namespace fl::collectives {

namespace {

// The bits of a rank in the order of the steps: the top bit of each axis, then the next bit of each.
std::vector<int> halving_order(const Problem& p) {
  need_power_of_two(p, "distance halving");
  const std::vector<Rank> shape = p.shape.empty() ? std::vector{p.ranks} : p.shape;
  std::vector<int> order;
  for (int below = 1; below < 32; ++below) {
    int base = 0;
    for (const Rank extent : shape) {  // all are powers of two, as their product is
      if (below <= logarithm(extent)) order.push_back(base + logarithm(extent) - below);
      base += logarithm(extent);
    }
  }
  return order;
}

// The block that a process has after the shuffle, and the process that has a block.
Rank block_of(Rank process, const std::vector<int>& order) {
  Rank block = 0;
  for (std::size_t t = 0; t < order.size(); ++t) block |= (process >> order[t] & 1) << t;
  return block;
}
Rank process_of(Rank block, const std::vector<int>& order) {
  Rank process = 0;
  for (std::size_t t = 0; t < order.size(); ++t) process |= (block >> t & 1) << order[t];
  return process;
}

Schedule allgather(const Problem& p) {
  return {.chunks = p.ranks, .shape = p.shape, .symmetry = Symmetry::none, .program = [order = halving_order(p)](Rank me, Program& out) {
            const Rank mine = block_of(me, order), keeper = process_of(me, order);
            std::vector<Op> got;
            if (mine != me) {
              out.send(keeper, chunks(me, 1));
              got.push_back(out.receive(mine, chunks(mine, 1)));
            }
            for (std::size_t t = 0; t < order.size(); ++t) {
              const Rank count = 1 << t, first = mine & -count, other = me ^ (1 << order[t]);
              out.round(static_cast<std::int32_t>(t) + 1);
              out.send(other, chunks(first, count), {}, 1);
              for (const Op o : got) out.also(o);
              // The own block comes back: where it was sent from, or to.
              got.push_back(
                  out.receive(other, chunks(first ^ count, count), {(me & -count) == (first ^ count) && mine != me ? Op{0} : no_op}, 1));
            }
          }};
}

Schedule reduce_scatter(const Problem& p) {
  return {.chunks = p.ranks, .shape = p.shape, .program = [order = halving_order(p)](Rank me, Program& out) {
            const Rank mine = block_of(me, order), keeper = process_of(me, order);
            Op sum = no_op, gone = no_op;
            for (std::size_t t = order.size(); t-- > 0;) {
              const Rank count = 1 << t, first = mine & -count, other = me ^ (1 << order[t]);
              out.round(static_cast<std::int32_t>(order.size() - 1 - t));
              const Op sent = out.send(other, chunks(first ^ count, count), {sum});
              if ((me & -count) == (first ^ count)) gone = sent;
              sum = out.combine(other, chunks(first, count), {sum});
            }
            if (mine == me) return;
            out.round(static_cast<std::int32_t>(order.size()));
            out.send(mine, chunks(mine, 1), {sum}, 1);
            out.receive(keeper, chunks(me, 1), {gone}, 1);
          }};
}

}  // namespace

FL_ALGORITHM(distance_halving){.name = "distance_halving",
                               .title = "distance halving with shuffled input",
                               .source = "Sack, Gropp 2012, Faster Topology-aware Collective Algorithms through Non-minimal Communication",
                               .forms = {{{Collective::allgather, allgather}, {Collective::reduce_scatter, reduce_scatter}}}};

}  // namespace fl::collectives
