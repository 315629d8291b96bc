// Paced all-to-all on a torus. Every rank uses the same displacement at the same time, so a message of displacement d puts a load of
// |d_i| on every link of one direction of axis i. Four displacements make a step, one for each network interface of a node: d, its
// opposite -d, the complement c(d), which is half the ring away from d on every axis, and -c(d). Together they load all links of an
// axis alike, by half its extent, in every step; so the longest axis never idles, nor is any other its bottleneck. The pace is set
// by windows: a message goes when the one a window before it has come: all those have left the network then.
#include <algorithm>
#include <memory>
#include <set>

#include "firstlight/collectives/algorithm.hpp"
#include "firstlight/collectives/torus.hpp"

namespace fl::collectives {

namespace {

constexpr std::size_t window = 64;  // messages on their way from each rank

// A node, with every coordinate negated, or complemented: half the ring minus it, in the same direction.
Rank opposite(const Torus& torus, Rank node) {
  for (int a = 0; a < torus.axes(); ++a) node = torus.along(node, a, (torus.extent(a) - 2 * torus.coordinate(node, a)) % torus.extent(a));
  return node;
}
Rank complement(const Torus& torus, Rank node) {
  for (int a = 0; a < torus.axes(); ++a) {
    const Rank at = torus.coordinate(node, a), length = torus.extent(a), half = length / 2;
    const Rank to = at == 0 && length % 2 == 1 ? 0 : at <= half ? (length + 1) / 2 - at : length + half - at;
    node = torus.along(node, a, to - at);
  }
  return node;
}

// All displacements but 0, as the nodes that they lead to from node 0, in fours; what makes no four comes last.
std::vector<Rank> displacements(const Torus& torus) {
  std::vector<Rank> fours, rest;
  for (Rank d = 1; d < torus.nodes(); ++d) {
    const Rank c = complement(torus, d);
    const std::set<Rank> step{d, opposite(torus, d), c, opposite(torus, c)};
    if (*step.begin() != d) continue;
    auto& to = step.size() == 4 ? fours : rest;
    to.insert(to.end(), step.begin(), step.end());
  }
  if (torus.nodes() > 1 && complement(torus, 0) != 0) rest.push_back(complement(torus, 0));
  fours.insert(fours.end(), rest.begin(), rest.end());
  return fours;
}

Schedule alltoall(const Problem& p) {
  const Torus torus(p);
  const auto steps = std::make_shared<const std::vector<Rank>>(displacements(torus));
  return {.chunks = p.ranks,
          .shape = p.shape,
          .symmetry = torus.full() ? Symmetry::torus : Symmetry::none,
          .program = [torus, steps](Rank me, Program& out) {
            if (!torus.present(me)) return;
            out.copy(chunks(me, 1), in(Space::input, chunks(me, 1)));
            std::vector<Op> came(steps->size() + window, no_op);  // by the message or one before it, that many later
            for (std::size_t i = 0; i < steps->size(); ++i) {
              Rank to = me, from = me;
              for (int a = 0; a < torus.axes(); ++a) {
                const Rank far = torus.coordinate((*steps)[i], a);
                to = torus.along(to, a, far);
                from = torus.along(from, a, -far);
              }
              out.round(static_cast<std::int32_t>(i / 4));
              if (torus.present(to)) out.send(to, in(Space::input, chunks(to, 1)), {came[i]});
              came[i + window] = torus.present(from) ? out.receive(from, chunks(from, 1)) : i == 0 ? no_op : came[i + window - 1];
            }
          }};
}

}  // namespace

FL_ALGORITHM(paced){
    .name = "paced",
    .title = "paced, by complementary displacements",
    .source =
        "Kumar, Sabharwal, Garg, Heidelberger 2008, Optimization of All-to-all Communication on the Blue Gene/L Supercomputer; "
        "Adachi et al. 2013, The Design of Ultra Scalable MPI Collective Communication on the K Computer",
    .forms = {{{Collective::alltoall, alltoall}}},
    .torus = true,
    .holes = true};

}  // namespace fl::collectives
