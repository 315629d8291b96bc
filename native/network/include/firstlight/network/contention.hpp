// Which links a schedule uses, how much, and whether its messages can ever wait for one another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firstlight/network/machine.hpp"
#include "firstlight/network/plan.hpp"
#include "firstlight/network/topology.hpp"

namespace fl::network {

struct Contention {
  bool link_disjoint = true;    // no link is used by two operations (a train is one)
  bool contention_free = true;  // nor has a node more sends or receives than interfaces, ever, or two calculations of a program
  std::int64_t max_load = 0;    // most operations that use one link
  std::int64_t links_used = 0;
  double crossings = 0;  // of links by segments, those of the plan
  std::string why;       // where it is not so
};

Contention contention(const Plan& plan, const Topology& topology, const Machine& machine);
Contention contention(const collectives::Schedule& schedule, const Topology& topology, const Machine& machine, double bytes);

// Bytes that cross each link, by its index.
std::vector<double> loads(const Plan& plan, const Topology& topology);

// The route of a step's message; in a representative plan from rank 0.
inline void route(const Step& s, const Topology& topology, std::vector<Link>& out) {
  topology.route(topology.node_of(s.rank), topology.node_of(s.peer), out);
}

}  // namespace fl::network
