// Bucket on all ports: a block is divided in as many parts as a torus has directions. Each part begins with another axis and goes round
// its rings one way only, so that no two parts ever share a link in a round, if the axes are equally long.
#include <vector>

#include "firstlight/collectives/algorithm.hpp"
#include "firstlight/collectives/torus.hpp"

namespace fl::collectives {

namespace {

// The way of one part: first along axis `part / 2`, then along those that follow it, in + links or in - links.
struct Way {
  const Torus& torus;
  Chunk parts;
  int part;

  Rank step() const { return part % 2 == 0 ? 1 : -1; }
  int axis(int phase) const { return (part / 2 + phase) % torus.axes(); }
  // The part's chunks that a node has after so many phases.
  Range gathered(Rank node, int phases) const {
    for (int phase = 0; phase < phases; ++phase) node = torus.along(node, axis(phase), -torus.coordinate(node, axis(phase)));
    Range range = chunks(parts * node + part, 1);
    if (phases > 0) {
      range.run = 1;
      range.stride = parts * torus.stride(axis(0));
      range.count = torus.extent(axis(0));
    }
    if (phases > 1) {
      range.row = range.count;
      range.skip = parts * torus.stride(axis(1));
      range.count *= torus.extent(axis(1));
    }
    return range;
  }
};

Torus torus_of(const Problem& p) {
  if (p.shape.size() > 3) throw Refused("buckets on all ports need a torus of 3 axes at most");
  return Torus(p);
}

Schedule allgather(const Problem& p) {
  const Torus torus = torus_of(p);
  return {.chunks = Chunk{torus.directions()} * p.ranks,
          .shape = p.shape,
          .symmetry = Symmetry::torus,
          .program = [torus](Rank me, Program& out) {
            for (int part = 0; part < torus.directions(); ++part) {
              const Way way{torus, torus.directions(), part};
              std::vector<Op> before;
              std::int32_t round = 0;
              for (int phase = 0; phase < torus.axes(); ++phase) {
                const int axis = way.axis(phase);
                Op got = no_op;
                for (Rank far = 0; far + 1 < torus.extent(axis); ++far) {
                  out.round(round++);
                  out.send(torus.along(me, axis, way.step()), way.gathered(torus.along(me, axis, -way.step() * far), phase), {got}, part);
                  for (std::size_t i = 0; far == 0 && i < before.size(); ++i) out.also(before[i]);
                  const Rank source = torus.along(me, axis, -way.step() * (far + 1));
                  got = out.receive(torus.along(me, axis, -way.step()), way.gathered(source, phase), {}, part);
                  before.push_back(got);
                }
              }
            }
          }};
}

Schedule reduce_scatter(const Problem& p) {
  const Torus torus = torus_of(p);
  return {.chunks = Chunk{torus.directions()} * p.ranks,
          .shape = p.shape,
          .symmetry = Symmetry::torus,
          .program = [torus](Rank me, Program& out) {
            for (int part = 0; part < torus.directions(); ++part) {
              const Way way{torus, torus.directions(), part};
              std::int32_t round = 0;
              Op sum = no_op;
              for (int phase = torus.axes() - 1; phase >= 0; --phase) {
                const int axis = way.axis(phase);
                const Op before = sum;
                for (Rank far = torus.extent(axis) - 2; far >= 0; --far) {
                  out.round(round++);
                  const Rank owner = torus.along(me, axis, -way.step() * (far + 1));
                  out.send(torus.along(me, axis, -way.step()), way.gathered(owner, phase), {sum}, part);
                  const Rank mine = torus.along(me, axis, -way.step() * far);
                  sum = out.combine(torus.along(me, axis, way.step()), way.gathered(mine, phase), {before}, part);
                }
              }
            }
          }};
}

}  // namespace

FL_ALGORITHM(bucket_ported){.name = "bucket_ported",
                            .title = "bucket on all ports of a torus",
                            .source = "Sack, Gropp 2012, Faster Topology-aware Collective Algorithms through Non-minimal Communication",
                            .forms = {{{Collective::allgather, allgather}, {Collective::reduce_scatter, reduce_scatter}}},
                            .torus = true};

}  // namespace fl::collectives
