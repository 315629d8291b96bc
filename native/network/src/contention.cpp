#include "firstlight/network/contention.hpp"

#include <algorithm>

namespace fl::network {

namespace {

using collectives::Kind;

// In a representative plan all links of a class are alike: a message of every rank crosses each of them once for every hop in it.
std::size_t place(const Plan& plan, const Topology& topology, Link link) {
  return static_cast<std::size_t>(plan.representative() ? topology.kind(link) : link);
}
std::size_t places(const Plan& plan, const Topology& topology) {
  return plan.representative() ? topology.kinds().size() : static_cast<std::size_t>(topology.links());
}
}  // namespace

Contention contention(const Plan& plan, const Topology& topology, const Machine& machine) {
  Contention c;
  std::vector<std::uint32_t> users(places(plan, topology), 0);
  std::vector<Link> way;
  Link busiest = -1;
  std::int32_t crowded = -1, working = -1;
  for (std::int32_t rank = 0; rank < plan.ranks(); ++rank) {
    std::int32_t sends = 0, receives = 0, calculations = 0;
    for (Index i = plan.first(rank); i < plan.first(rank + 1); ++i) {
      const Step& s = plan.steps()[i];
      if (s.kind == Kind::receive) ++receives;
      if (s.kind == Kind::compute && s.bytes > 0) ++calculations;
      if (s.kind != Kind::send) continue;
      ++sends;
      route(s, topology, way);
      c.crossings += s.segments * static_cast<double>(way.size());
      for (const Link link : way) {
        const std::int64_t load = ++users[place(plan, topology, link)];
        if (load > c.max_load) {
          c.max_load = load;
          busiest = link;
        }
      }
    }
    if (crowded < 0 && std::max(sends, receives) > machine.interfaces) crowded = rank;
    if (working < 0 && calculations > 1) working = rank;
  }
  for (std::size_t k = 0; k < users.size(); ++k)
    if (users[k] > 0) c.links_used += plan.representative() ? topology.nodes() : 1;
  c.link_disjoint = c.max_load <= 1;
  c.contention_free = c.link_disjoint && crowded < 0 && working < 0;
  if (!c.link_disjoint)
    c.why = std::to_string(c.max_load) + " operations use the link " + topology.describe(busiest);
  else if (crowded >= 0)
    c.why = "rank " + std::to_string(crowded) + " has more sends or receives than " + std::to_string(machine.interfaces) + " interfaces";
  else if (working >= 0)
    c.why = "rank " + std::to_string(working) + " has more than one calculation, and one may have to wait for another";
  return c;
}

Contention contention(const collectives::Schedule& schedule, const Topology& topology, const Machine& machine, double bytes) {
  return contention(Plan(schedule, whole(schedule, bytes), representative(schedule, topology)), topology, machine);
}

std::vector<double> loads(const Plan& plan, const Topology& topology) {
  std::vector<double> bytes(places(plan, topology), 0);
  std::vector<Link> way;
  for (const Step& s : plan.steps()) {
    if (s.kind != Kind::send) continue;
    route(s, topology, way);
    for (const Link link : way) bytes[place(plan, topology, link)] += s.bytes * s.segments;
  }
  if (!plan.representative()) return bytes;
  std::vector<double> every(static_cast<std::size_t>(topology.links()), 0);
  for (Link l = 0; l < topology.links(); ++l)
    if (topology.exists(l)) every[static_cast<std::size_t>(l)] = bytes[static_cast<std::size_t>(topology.kind(l))];
  return every;
}

}  // namespace fl::network
