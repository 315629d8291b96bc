// Arc-disjoint trees: up to three spanning trees that share no directed link, searched for on any torus or mesh, each for a part of the
// message. Breadth first, so they are little deeper than the network is wide: 83 links on the 48 x 54 x 32 nodes of the K computer, where
// no node is further off than 67 links and the trees of Trinaryx3, which stay on + links, are 132 deep. Those leave all - links to a reduction
// that goes on at the same time; here the two may share links.
#include "firstlight/collectives/algorithm.hpp"
#include "firstlight/collectives/torus.hpp"

namespace fl::collectives {

namespace {

Trees trees(const Problem& p) { return arborescences(Torus(p), p.root, 3); }

Schedule broadcast(const Problem& p) { return trains(p, trees(p), false, true); }
Schedule reduce(const Problem& p) { return trains(p, trees(p), true, false); }
Schedule allreduce(const Problem& p) { return trains(p, trees(p), true, true); }

}  // namespace

FL_ALGORITHM(arc_disjoint){
    .name = "arc_disjoint",
    .title = "arc-disjoint trees, found by search",
    .source = "Edmonds 1973, Edge-Disjoint Branchings; Lovasz 1976, On Two Minimax Theorems in Graph Theory; own search, breadth first",
    .forms = {{{Collective::broadcast, broadcast}, {Collective::reduce, reduce}, {Collective::allreduce, allreduce}}},
    .pipelined = true,
    .torus = true,
    .holes = true};

}  // namespace fl::collectives
