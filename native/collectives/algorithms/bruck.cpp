// Bruck: ceil(log2 P) rounds for any number of ranks; blocks are kept relative to the own rank in scratch memory and put into place last.
#include <vector>

#include "firstlight/collectives/algorithm.hpp"
#include "ranks.hpp"

namespace fl::collectives {

namespace {

Range scratch(Chunk first, Chunk count) { return in(Space::scratch, chunks(first, count)); }

Schedule allgather(const Problem& p) {
  return {.chunks = p.ranks, .scratch = p.ranks, .symmetry = Symmetry::cyclic, .program = [p](Rank me, Program& out) {
            std::vector<Op> got{out.copy(scratch(0, 1), chunks(me, 1))};
            auto after_all = [&] {
              for (const Op o : got) out.also(o);
            };
            std::int32_t round = 0;
            for (std::int64_t far = 1; far < p.ranks; far <<= 1) {
              const Chunk count = std::min<std::int64_t>(far, p.ranks - far);
              out.round(round++);
              out.send(around(me - far, p.ranks), scratch(0, count));
              after_all();
              got.push_back(out.receive(around(me + far, p.ranks), scratch(far, count)));
            }
            out.copy(chunks(me, p.ranks - me), scratch(0, p.ranks - me));
            after_all();
            out.copy(chunks(0, me), scratch(p.ranks - me, me));
            after_all();
          }};
}

// Block i of scratch is on its way to the rank i further on. It goes the powers of two that make up i; what comes is behind the
// blocks until it may take the place of what went.
Schedule alltoall(const Problem& p) {
  return {.chunks = p.ranks, .scratch = 2 * p.ranks, .symmetry = Symmetry::cyclic, .program = [p](Rank me, Program& out) {
            const Op early = out.copy(scratch(0, p.ranks - me), in(Space::input, chunks(me, p.ranks - me)));
            const Op late = out.copy(scratch(p.ranks - me, me), in(Space::input, chunks(0, me)));
            std::vector<Op> before{early, late};
            auto after_all = [&] {
              for (const Op o : before) out.also(o);
            };
            std::int32_t round = 0;
            Op placed = no_op;
            for (std::int64_t far = 1; far < p.ranks; far <<= 1) {
              const Chunk whole = p.ranks / (2 * far), rest = p.ranks % (2 * far);
              Range leaves = scratch(far, whole * far + std::max<Chunk>(0, rest - far));
              leaves.run = far;
              leaves.stride = 2 * far;
              out.round(round++);
              const Op sent = out.send(around(me + far, p.ranks), leaves);
              after_all();
              const Op got = out.receive(around(me - far, p.ranks), scratch(p.ranks, leaves.count), {placed});
              placed = out.copy(leaves, scratch(p.ranks, leaves.count), {sent, got});
              before.push_back(placed);
            }
            // Block i came from the rank i before: in falling order from the own rank on.
            auto falling = [](Chunk first, Chunk count) {
              Range range = chunks(first, count);
              range.run = 1;
              range.stride = -1;
              return range;
            };
            out.copy(falling(me, me + 1), scratch(0, me + 1));
            after_all();
            out.copy(falling(p.ranks - 1, p.ranks - 1 - me), scratch(me + 1, p.ranks - 1 - me));
            after_all();
          }};
}

}  // namespace

FL_ALGORITHM(bruck){.name = "bruck",
                    .title = "Bruck",
                    .source =
                        "Bruck, Ho, Kipnis, Upfal, Weathersby 1997, Efficient Algorithms for All-to-All Communications in Multiport "
                        "Message-Passing Systems",
                    .forms = {{{Collective::allgather, allgather}, {Collective::alltoall, alltoall}}}};

}  // namespace fl::collectives
