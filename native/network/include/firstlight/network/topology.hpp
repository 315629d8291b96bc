// Networks whose routes are computed, never stored. Nodes come first among the vertices; switches, where there are some, follow.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fl::network {

using Node = std::int32_t;
using Link = std::int64_t;    // a directed link
using Vertex = std::int64_t;  // a node or a switch
using Coordinates = std::vector<Node>;

struct Ends {
  Vertex from = 0;
  Vertex to = 0;
};

// A specified network cannot be built, or no route joins a pair of nodes. The message has the reason.
class Unroutable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Topology {
 public:
  virtual ~Topology() = default;
  virtual Node nodes() const = 0;
  // Indices of links are below this; some of them may not exist (the border of a mesh).
  virtual Link links() const = 0;
  virtual bool exists(Link link) const = 0;
  virtual Ends ends(Link link) const = 0;
  // Replaces `out` by the links from one node to another, in their order. Raises Unroutable.
  virtual void route(Node from, Node to, std::vector<Link>& out) const = 0;
  virtual std::string describe(Link link) const = 0;
  // Classes of links, such as the directions of a torus: their names, and that of a link.
  virtual std::vector<std::string> kinds() const = 0;
  virtual int kind(Link link) const = 0;
  // The torus or mesh that the ranks form, first axis fastest; empty where they form none; open: axes without the wrapping link.
  virtual Coordinates shape() const { return {}; }
  virtual std::vector<bool> open() const { return {}; }
  virtual Node node_of(std::int32_t rank) const { return rank; }
  // The mixed radix in which a node's number counts, fastest first: the axes as they are wired, or the levels of a tree.
  virtual Coordinates digits() const { return {nodes()}; }
  // Whether routes depend on the displacement only: cyclic on every axis of shape(), or by exclusive or.
  virtual bool translates() const { return false; }
  virtual bool exclusive() const { return false; }
  // Whether each step to a neighbour on shape() is one link, of one kind for each direction as seen from rank 0, and not shared.
  virtual bool rings() const { return false; }
};

// tofu:XxYxZ, torus:AxBx..., mesh:AxBx..., fattree:MxN[x...][/MU], tree:AxBx..., dragonfly:GROUPSxROUTERSxNODES,
// hypercube:DIMENSION, flat:NODES, or flat:AxBx... for algorithms that want the ranks to form a torus.
// Routes avoid the nodes of the faulty ranks, where the network has a way to. Raises Unroutable.
std::unique_ptr<Topology> make_topology(std::string_view spec, std::span<const std::int32_t> faulty_ranks = {});

// One a kind of network, called by make_topology with what is behind the colon.
std::unique_ptr<Topology> make_tofu(std::string_view extents, std::span<const std::int32_t> faulty_ranks);
std::unique_ptr<Topology> make_torus(std::string_view extents, bool wraps);
std::unique_ptr<Topology> make_fat_tree(std::string_view levels);
std::unique_ptr<Topology> make_tree(std::string_view levels);
std::unique_ptr<Topology> make_dragonfly(std::string_view extents);
std::unique_ptr<Topology> make_hypercube(std::string_view dimension);

// "4x3x2" as numbers, each at least 1, between least and most of them, with a product that is a number of nodes.
std::vector<Node> extents_of(std::string_view text, std::size_t least, std::size_t most);

}  // namespace fl::network
