// Binary tree: relative to the root, rank v has the children 2v + 1 and 2v + 2; segments follow each other down or up.
#include "firstlight/collectives/algorithm.hpp"
#include "ranks.hpp"

namespace fl::collectives {

namespace {

std::int32_t level(Rank relative) { return static_cast<std::int32_t>(std::bit_width(static_cast<std::uint32_t>(relative) + 1)) - 1; }

Schedule broadcast(const Problem& p) {
  return {.chunks = p.segments, .program = [p](Rank me, Program& out) {
            const Rank v = around(me - p.root, p.ranks);
            const Range message = train(0, p.segments);
            auto real = [&](std::int64_t relative) { return around(relative + p.root, p.ranks); };
            Op got = no_op;
            out.round(level(v) - 1);
            if (v > 0) got = out.receive(real((v - 1) / 2), message);
            out.round(level(v));
            for (std::int64_t child = std::int64_t{2} * v + 1; child <= std::int64_t{2} * v + 2; ++child)
              if (child < p.ranks) out.send(real(child), message, {got});
          }};
}

Schedule reduce(const Problem& p) {
  return {.chunks = p.segments, .program = [p](Rank me, Program& out) {
            const Rank v = around(me - p.root, p.ranks);
            const Range vector = train(0, p.segments);
            const std::int32_t deepest = level(p.ranks - 1);
            auto real = [&](std::int64_t relative) { return around(relative + p.root, p.ranks); };
            Op sum = no_op;
            out.round(deepest - level(v) - 1);
            for (std::int64_t child = std::int64_t{2} * v + 1; child <= std::int64_t{2} * v + 2; ++child)
              if (child < p.ranks) sum = out.combine(real(child), vector, {sum});
            out.round(deepest - level(v));
            if (v > 0) out.send(real((v - 1) / 2), vector, {sum});
          }};
}

}  // namespace

FL_ALGORITHM(binary_tree){
    .name = "binary_tree",
    .title = "pipelined binary tree",
    .source = "Pjesivac-Grbovic, Angskun, Bosilca, Fagg, Gabriel, Dongarra 2007, Performance Analysis of MPI Collective Operations",
    .forms = {{{Collective::broadcast, broadcast}, {Collective::reduce, reduce}}},
    .pipelined = true};

}  // namespace fl::collectives
