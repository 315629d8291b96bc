// Four-way allgather on a 3-D torus: each block is divided in four parts, and each part goes round the rings of the three axes one
// after the other, with what was gathered so far: the first three parts in + links, never two along one axis, the fourth in - links.
// Its time reversal scatters a reduction.
#include <algorithm>
#include <array>

#include "firstlight/collectives/algorithm.hpp"
#include "firstlight/collectives/torus.hpp"

namespace fl::collectives {

namespace {

struct Way {
  std::array<int, 3> axes;
  Rank step;
};
constexpr std::array<Way, 4> ways{{{{0, 1, 2}, 1}, {{1, 2, 0}, 1}, {{2, 0, 1}, 1}, {{0, 1, 2}, -1}}};

// The part's chunks of all nodes that differ from a node along the first `phase` axes of the way.
Range gathered(const Torus& torus, std::size_t part, Rank node, int phase) {
  constexpr auto parts = static_cast<Chunk>(ways.size());
  const auto axes = ways[part].axes;
  for (int i = 0; i < phase; ++i)
    node = torus.along(node, axes[static_cast<std::size_t>(i)], -torus.coordinate(node, axes[static_cast<std::size_t>(i)]));
  Range range = chunks(parts * node + static_cast<Chunk>(part), 1);
  if (phase > 0) {
    range.run = 1;
    range.stride = parts * torus.stride(axes[0]);
    range.count = torus.extent(axes[0]);
  }
  if (phase > 1) {
    range.row = range.count;
    range.skip = parts * torus.stride(axes[1]);
    range.count *= torus.extent(axes[1]);
  }
  return range;
}

Torus torus_of(const Problem& p) {
  if (p.shape.size() != 3) throw Refused("the four-way algorithm needs a torus of three axes");
  return Torus(p);
}

// The last phase moves nearly everything. On axes of unequal length, parts would come to it at different times, and hold up those
// that still are in the second phase along the same axis with short messages; so the last phase starts when all parts are ready.
Schedule allgather(const Problem& p) {
  return {.chunks = static_cast<Chunk>(ways.size()) * p.ranks,
          .shape = p.shape,
          .symmetry = Symmetry::torus,
          .program = [torus = torus_of(p)](Rank me, Program& out) {
            std::array<std::vector<Op>, ways.size()> before;  // what came
            std::array<std::int32_t, ways.size()> round{};
            for (int phase = 0; phase < 3; ++phase) {
              if (phase == 2) round.fill(*std::ranges::max_element(round));
              std::vector<Op> all;
              for (const auto& part : before) all.insert(all.end(), part.begin(), part.end());
              for (std::size_t part = 0; part < ways.size(); ++part) {
                const int axis = ways[part].axes[static_cast<std::size_t>(phase)];
                const Rank on = ways[part].step, tag = static_cast<Rank>(part);
                Op came = no_op;
                for (Rank far = 0; far + 1 < torus.extent(axis); ++far) {
                  out.round(round[part]++);
                  out.send(torus.along(me, axis, on), gathered(torus, part, torus.along(me, axis, -on * far), phase), {came}, tag);
                  if (far == 0)
                    for (const Op op : phase == 2 ? all : before[part]) out.also(op);
                  came = out.receive(torus.along(me, axis, -on), gathered(torus, part, torus.along(me, axis, -on * (far + 1)), phase), {},
                                     tag);
                  if (phase < 2) before[part].push_back(came);
                }
              }
            }
          }};
}

Schedule reduce_scatter(const Problem& p) {
  return {.chunks = static_cast<Chunk>(ways.size()) * p.ranks,
          .shape = p.shape,
          .symmetry = Symmetry::torus,
          .program = [torus = torus_of(p)](Rank me, Program& out) {
            for (std::size_t part = 0; part < ways.size(); ++part) {
              Op sum = no_op;
              std::int32_t round = 0;
              for (int phase = 2; phase >= 0; --phase) {
                const int axis = ways[part].axes[static_cast<std::size_t>(phase)];
                const Rank on = ways[part].step, tag = static_cast<Rank>(part);
                const Op before = sum;
                for (Rank far = torus.extent(axis) - 2; far >= 0; --far, ++round) {
                  out.round(round);
                  out.send(torus.along(me, axis, -on), gathered(torus, part, torus.along(me, axis, -on * (far + 1)), phase), {sum}, tag);
                  sum =
                      out.combine(torus.along(me, axis, on), gathered(torus, part, torus.along(me, axis, -on * far), phase), {before}, tag);
                }
              }
            }
          }};
}

}  // namespace

FL_ALGORITHM(four_way){.name = "four_way",
                       .title = "four ways of three phases each",
                       .source =
                           "Adachi, Shida, Miura, Sumimoto, Uno, Kurokawa, Shoji, Yokokawa 2013, The Design of Ultra Scalable MPI "
                           "Collective Communication on the K Computer",
                       .forms = {{{Collective::allgather, allgather}, {Collective::reduce_scatter, reduce_scatter}}},
                       .torus = true};

}  // namespace fl::collectives
