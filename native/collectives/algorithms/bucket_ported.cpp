// Bucket on all ports: a block is divided in as many parts as a torus has directions. Each part begins with another axis and goes round
// its rings one way only, so that no two parts ever share a link in a round, if the axes are equally long. Scattering sums is gathering
// backwards in time: what came from a rank returns to it, what went to a rank comes back.
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

// One round of a part when it is gathered.
struct Turn {
  int phase;
  Rank next, before;
  Range given, taken;  // to the next one, from the one before
};

std::vector<Turn> turns(const Way& way, Rank me) {
  std::vector<Turn> all;
  for (int phase = 0; phase < way.torus.axes(); ++phase) {
    const auto at = [&](Rank far) { return way.torus.along(me, way.axis(phase), way.step() * far); };
    for (Rank far = 0; far + 1 < way.torus.extent(way.axis(phase)); ++far)
      all.push_back({phase, at(1), at(-1), way.gathered(at(-far), phase), way.gathered(at(-far - 1), phase)});
  }
  return all;
}

void gather(const std::vector<Turn>& turns, int part, Program& out) {
  std::vector<Op> before;
  Op got = no_op;
  int phase = -1;
  for (const Turn& t : turns) {
    const bool turned = t.phase != phase;
    phase = t.phase;
    out.round(static_cast<std::int32_t>(before.size()));
    out.send(t.next, t.given, {turned ? no_op : got}, part);
    for (std::size_t i = 0; turned && i < before.size(); ++i) out.also(before[i]);
    got = out.receive(t.before, t.taken, {}, part);
    before.push_back(got);
  }
}

void scatter(const std::vector<Turn>& turns, int part, Program& out) {
  Op sum = no_op, before = no_op;
  std::int32_t round = 0;
  int phase = -1;
  for (auto turn = turns.rbegin(); turn != turns.rend(); ++turn) {
    const Turn& t = *turn;
    if (t.phase != phase) before = sum;
    phase = t.phase;
    out.round(round++);
    out.send(t.before, t.taken, {sum}, part);
    sum = out.combine(t.next, t.given, {before}, part);
  }
}

Schedule on_all_ports(const Problem& p, void (*rounds)(const std::vector<Turn>&, int, Program&)) {
  if (p.shape.size() > 3) throw Refused("buckets on all ports require a torus of at most 3 axes");
  const Torus torus(p);
  return {.chunks = Chunk{torus.directions()} * p.ranks,
          .shape = p.shape,
          .symmetry = Symmetry::torus,
          .program = [torus, rounds](Rank me, Program& out) {
            for (int part = 0; part < torus.directions(); ++part) rounds(turns({torus, torus.directions(), part}, me), part, out);
          }};
}

Schedule allgather(const Problem& p) { return on_all_ports(p, gather); }
Schedule reduce_scatter(const Problem& p) { return on_all_ports(p, scatter); }

}  // namespace

FL_ALGORITHM(bucket_ported){.name = "bucket_ported",
                            .title = "bucket on all ports of a torus",
                            .source = "Sack, Gropp 2012, Faster Topology-aware Collective Algorithms through Non-minimal Communication",
                            .forms = {{{Collective::allgather, allgather}, {Collective::reduce_scatter, reduce_scatter}}},
                            .torus = true};

}  // namespace fl::collectives
