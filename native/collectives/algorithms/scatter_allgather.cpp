// Scatter and allgather: a binomial tree scatters the root's message, a ring gathers the parts everywhere. Who has a part from the
// scatter, as inner nodes of the tree do, is not sent it again.
#include <vector>

#include "firstlight/collectives/algorithm.hpp"
#include "ranks.hpp"

namespace fl::collectives {

namespace {

// Relative to the root, a rank gets the parts of so many ranks, from its own on, by the scatter.
Rank scattered(Rank relative, Rank ranks) {
  if (relative == 0) return ranks;
  return std::min(relative & -relative, ranks - relative);
}

std::int32_t scatter_rounds(Rank ranks) { return logarithm(static_cast<Rank>(std::bit_ceil(static_cast<std::uint32_t>(ranks)))); }

// In round k of the ring each rank is sent a part that was not scattered more than P - 1 - k of them. So many are powers of two, except
// for the last of those whose numbers are multiples of one.
Rounds rounds(const Problem& p) {
  const std::int32_t first = scatter_rounds(p.ranks), end = first + p.ranks - 1;
  Rounds all{.receipts = [p, first](Rank me, std::int32_t round, std::vector<Rounds::Receipt>& out) {
    const Rank v = around(me - p.root, p.ranks), part = scattered(v, p.ranks), span = v & -v;
    if (round >= first) {
      if (part <= p.ranks - 1 - (round - first)) out.push_back({around(me - 1, p.ranks), 1});
    } else if (v != 0 && first - 1 - logarithm(span) == round) {
      out.push_back({around(std::int64_t{v - span} + p.root, p.ranks), part});
    }
  }};
  for (std::int32_t round = 0; round <= first; ++round) all.begins.push_back(round);
  for (std::int64_t span = 1; span < p.ranks; span <<= 1)
    for (const std::int64_t v : {span, (p.ranks - 1) / span * span})
      all.begins.push_back(first + p.ranks - scattered(static_cast<Rank>(v), p.ranks));
  std::ranges::sort(all.begins);
  all.begins.erase(std::unique(all.begins.begin(), all.begins.end()), all.begins.end());
  std::erase_if(all.begins, [end](std::int32_t round) { return round > end; });
  if (all.begins.back() != end) all.begins.push_back(end);
  return all;
}

Schedule broadcast(const Problem& p) {
  return {.chunks = p.ranks, .rounds = rounds(p), .program = [p](Rank me, Program& out) {
            const Rank v = around(me - p.root, p.ranks), top = static_cast<Rank>(std::bit_ceil(static_cast<std::uint32_t>(p.ranks)));
            const Rank span = v == 0 ? top : v & -v, next = around(v + 1, p.ranks), before = around(v - 1, p.ranks);
            auto real = [&](Rank relative) { return around(std::int64_t{relative} + p.root, p.ranks); };
            auto round_of = [&](Rank far) { return logarithm(top) - 1 - logarithm(far); };
            std::vector<Op> have(static_cast<std::size_t>(p.ranks), no_op);
            Op got = no_op;
            if (v != 0) {
              out.round(round_of(span));
              got = out.receive(real(v - span), chunks(v, scattered(v, p.ranks)));
            }
            for (Rank far = span >> 1; far > 0; far >>= 1) {
              if (v + far >= p.ranks) continue;
              out.round(round_of(far));
              out.send(real(v + far), chunks(v + far, scattered(v + far, p.ranks)), {got});
            }
            for (Rank k = 0; k + 1 < p.ranks; ++k) {
              out.round(logarithm(top) + k);
              const Rank gives = around(v - k, p.ranks), takes = around(v - 1 - k, p.ranks);
              const bool scattered_here = around(gives - v, p.ranks) < scattered(v, p.ranks);
              if (around(gives - next, p.ranks) >= scattered(next, p.ranks))
                out.send(real(next), chunks(gives, 1), {scattered_here ? got : have[static_cast<std::size_t>(gives)]}, 1);
              if (around(takes - v, p.ranks) >= scattered(v, p.ranks))
                have[static_cast<std::size_t>(takes)] = out.receive(real(before), chunks(takes, 1), {}, 1);
            }
          }};
}

}  // namespace

FL_ALGORITHM(scatter_allgather){
    .name = "scatter_allgather",
    .title = "binomial scatter, ring allgather",
    .source = "Barnett, Shuler, van de Geijn, Gupta, Payne, Watts 1994, Interprocessor Collective Communication Library",
    .forms = {{{Collective::broadcast, broadcast}}}};

}  // namespace fl::collectives
