// A dragonfly: the routers of a group are joined all to all, and the groups are joined all to all by links that are dealt out to
// their routers alternately. Minimal routes: within the group to the router that has the link, over, and within the other group.
// Source: Kim, Dally, Scott, Abts 2008, Technology-Driven, Highly-Scalable Dragonfly Topology.
#include "firstlight/network/topology.hpp"

namespace fl::network {

namespace {

class Dragonfly : public Topology {
 public:
  Dragonfly(Node groups, Node routers, Node nodes)
      : groups_(groups),
        routers_(routers),
        each_(nodes),
        all_(groups * routers * nodes),
        share_((groups - 1 + routers - 1) / routers),
        local_(2 * Link{all_}),
        global_(local_ + Link{groups} * routers * routers) {}
  Node nodes() const override { return all_; }
  Link links() const override { return global_ + Link{groups_} * groups_; }
  bool exists(Link link) const override {
    if (link < local_) return true;
    if (link < global_) return (link - local_) / routers_ % routers_ != (link - local_) % routers_;
    return (link - global_) / groups_ != (link - global_) % groups_;
  }
  Ends ends(Link link) const override {
    if (link < local_) {
      const Vertex node = link / 2, router = switch_of(node / each_);
      return link % 2 == 0 ? Ends{node, router} : Ends{router, node};
    }
    if (link < global_) {
      const Link k = link - local_, group = k / routers_ / routers_;
      return {switch_of(group * routers_ + k / routers_ % routers_), switch_of(group * routers_ + k % routers_)};
    }
    const auto from = static_cast<Node>((link - global_) / groups_), to = static_cast<Node>((link - global_) % groups_);
    return {switch_of(Link{from} * routers_ + gate(from, to)), switch_of(Link{to} * routers_ + gate(to, from))};
  }
  void route(Node from, Node to, std::vector<Link>& out) const override {
    out.clear();
    if (from == to) return;
    out.push_back(2 * Link{from});
    const Node home = from / each_ / routers_, away = to / each_ / routers_, goal = to / each_ % routers_;
    Node at = from / each_ % routers_;
    if (home != away) {
      within(home, at, gate(home, away), out);
      out.push_back(global_ + Link{home} * groups_ + away);
      at = gate(away, home);
    }
    within(away, at, goal, out);
    out.push_back(2 * Link{to} + 1);
  }
  std::string describe(Link link) const override {
    const Ends e = ends(link);
    return kinds()[static_cast<std::size_t>(kind(link))] + " " + std::to_string(e.from) + " to " + std::to_string(e.to);
  }
  std::vector<std::string> kinds() const override { return {"in", "out", "local", "global"}; }
  Coordinates digits() const override { return {each_, routers_, groups_}; }
  int kind(Link link) const override { return link < local_ ? static_cast<int>(link % 2) : link < global_ ? 2 : 3; }

 private:
  Vertex switch_of(Link router) const { return all_ + router; }
  // The router of one group that has the link to another.
  Node gate(Node from, Node to) const { return ((to - from + groups_) % groups_ - 1) / share_; }
  void within(Node group, Node from, Node to, std::vector<Link>& out) const {
    if (from != to) out.push_back(local_ + (Link{group} * routers_ + from) * routers_ + to);
  }

  Node groups_, routers_, each_, all_;
  Node share_;  // links to other groups that a router has
  Link local_, global_;
};

}  // namespace

std::unique_ptr<Topology> make_dragonfly(std::string_view extents) {
  const std::vector<Node> e = extents_of(extents, 3, 3);
  return std::make_unique<Dragonfly>(e[0], e[1], e[2]);
}

}  // namespace fl::network
