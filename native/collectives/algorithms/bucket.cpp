// Bucket: the ring algorithm along one axis of a torus after the other, with all that was gathered along those before. Without a torus
// it is the ring.
#include <vector>

#include "firstlight/collectives/algorithm.hpp"
#include "ranks.hpp"

namespace fl::collectives {

namespace {

// The rings that a rank is on. Blocks of all ranks that differ along the axes before one are neighbours.
struct Rings {
  std::vector<Rank> shape;

  explicit Rings(const Problem& p) : shape(p.shape.empty() ? std::vector{p.ranks} : p.shape) {}
  Rank stride(std::size_t axis) const {
    Rank product = 1;
    for (std::size_t a = 0; a < axis; ++a) product *= shape[a];
    return product;
  }
  Rank along(Rank rank, std::size_t axis, Rank far) const {
    const Rank step = stride(axis), at = rank / step % shape[axis];
    return rank + (around(at + far, shape[axis]) - at) * step;
  }
  // What the rank so far along the axis has gathered along the axes before.
  Range gathered(Rank me, std::size_t axis, Rank far) const {
    const Rank step = stride(axis), there = along(me, axis, far);
    return chunks(there / step * step, step);
  }
  Symmetry symmetry() const { return shape.size() == 1 ? Symmetry::cyclic : Symmetry::torus; }
};

// Appends the scattering of the sum. Returns the last combination, and which send was the last to read which block.
Op scatter(const Rings& rings, Rank me, std::int32_t& round, std::vector<std::vector<Op>>& sends, Program& out) {
  Op sum = no_op;
  for (std::size_t axis = rings.shape.size(); axis-- > 0;) {
    const Op before = sum;
    for (Rank k = 0; k + 1 < rings.shape[axis]; ++k) {
      out.round(round++);
      sends[axis].push_back(out.send(rings.along(me, axis, 1), rings.gathered(me, axis, -1 - k), {sum}));
      sum = out.combine(rings.along(me, axis, -1), rings.gathered(me, axis, -2 - k), {before});
    }
  }
  return sum;
}

void gather(const Rings& rings, Rank me, std::int32_t round, Op sum, const std::vector<std::vector<Op>>& sends, Program& out) {
  std::vector<Op> have{sum};
  for (std::size_t axis = 0; axis < rings.shape.size(); ++axis) {
    Op got = no_op;
    std::vector<Op> here;
    for (Rank k = 0; k + 1 < rings.shape[axis]; ++k) {
      out.round(round++);
      out.send(rings.along(me, axis, 1), rings.gathered(me, axis, -k), {got}, 1);
      for (std::size_t i = 0; k == 0 && i < have.size(); ++i) out.also(have[i]);
      const Op sent = sends[axis].empty() ? no_op : sends[axis][static_cast<std::size_t>(k)];
      got = out.receive(rings.along(me, axis, -1), rings.gathered(me, axis, -1 - k), {sent}, 1);
      here.push_back(got);
    }
    have.insert(have.end(), here.begin(), here.end());
  }
}

Schedule allgather(const Problem& p) {
  const Rings rings(p);
  return {.chunks = p.ranks, .shape = rings.shape, .symmetry = rings.symmetry(), .program = [rings](Rank me, Program& out) {
            gather(rings, me, 0, no_op, std::vector<std::vector<Op>>(rings.shape.size()), out);
          }};
}

Schedule reduce_scatter(const Problem& p) {
  const Rings rings(p);
  return {.chunks = p.ranks, .shape = rings.shape, .symmetry = rings.symmetry(), .program = [rings](Rank me, Program& out) {
            std::vector<std::vector<Op>> sends(rings.shape.size());
            std::int32_t round = 0;
            scatter(rings, me, round, sends, out);
          }};
}

Schedule allreduce(const Problem& p) {
  const Rings rings(p);
  return {.chunks = p.ranks, .shape = rings.shape, .symmetry = rings.symmetry(), .program = [rings](Rank me, Program& out) {
            std::vector<std::vector<Op>> sends(rings.shape.size());
            std::int32_t round = 0;
            const Op sum = scatter(rings, me, round, sends, out);
            gather(rings, me, round, sum, sends, out);
          }};
}

}  // namespace

FL_ALGORITHM(bucket){
    .name = "bucket",
    .title = "bucket: rings along one axis after the other",
    .source = "Barnett, Littlefield, Payne, van de Geijn 1993, Global Combine on Mesh Architectures with Wormhole Routing",
    .forms = {{{Collective::allgather, allgather}, {Collective::reduce_scatter, reduce_scatter}, {Collective::allreduce, allreduce}}}};

}  // namespace fl::collectives
