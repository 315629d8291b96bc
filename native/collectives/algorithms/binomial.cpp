// Binomial tree: ceil(log2 P) rounds; in round k those whose number (relative to the root) has no bit above k pass on what they have.
#include <bit>

#include "firstlight/collectives/algorithm.hpp"

namespace fl::collectives {

namespace {

// The lowest bit set of a rank relative to the root, and for the root itself the power of two that covers all ranks.
Rank span_of(Rank relative, Rank ranks) {
  return relative == 0 ? static_cast<Rank>(std::bit_ceil(static_cast<std::uint32_t>(ranks))) : relative & -relative;
}

Schedule broadcast(const Problem& p) {
  return {.chunks = p.segments, .program = [p](Rank me, Program& out) {
            const Rank relative = (me - p.root + p.ranks) % p.ranks;
            const Range message = train(0, p.segments);
            const Rank span = span_of(relative, p.ranks);
            const int rounds = std::countr_zero(static_cast<std::uint32_t>(span_of(0, p.ranks)));
            Op got = no_op;
            if (relative != 0) {
              out.round(rounds - 1 - std::countr_zero(static_cast<std::uint32_t>(span)));
              got = out.receive((relative - span + p.root) % p.ranks, message);
            }
            for (Rank far = span >> 1; far > 0; far >>= 1) {
              if (relative + far >= p.ranks) continue;
              out.round(rounds - 1 - std::countr_zero(static_cast<std::uint32_t>(far)));
              out.send((relative + far + p.root) % p.ranks, message, {got});
            }
          }};
}

Schedule reduce(const Problem& p) {
  return {.chunks = p.segments, .program = [p](Rank me, Program& out) {
            const Rank relative = (me - p.root + p.ranks) % p.ranks;
            const Range vector = train(0, p.segments);
            const Rank span = span_of(relative, p.ranks);
            Op sum = no_op;
            for (Rank far = 1; far < span; far <<= 1) {
              if (relative + far >= p.ranks) continue;
              out.round(std::countr_zero(static_cast<std::uint32_t>(far)));
              sum = out.combine((relative + far + p.root) % p.ranks, vector, {sum});
            }
            if (relative == 0) return;
            out.round(std::countr_zero(static_cast<std::uint32_t>(span)));
            out.send((relative - span + p.root) % p.ranks, vector, {sum});
          }};
}

}  // namespace

FL_ALGORITHM(binomial){.name = "binomial",
                       .title = "binomial tree",
                       .source = "Thakur, Rabenseifner, Gropp 2005, Optimization of Collective Communication Operations in MPICH",
                       .forms = {{{Collective::broadcast, broadcast}, {Collective::reduce, reduce}}},
                       .pipelined = true};

}  // namespace fl::collectives
