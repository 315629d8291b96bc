// Recursive bisection that uses the network: slots are halved where they reach farthest, ranks so that little crosses between the
// halves and that those with partners elsewhere come to the nearer half. Ranks are halved on several levels: heavy edges are
// contracted, the coarsest graph is halved by growing a piece, and each finer one is refined.
// Sources: Pellegrini, Roman 1996, Scotch (dual recursive bipartitioning); Karypis, Kumar 1998, A Fast and High Quality Multilevel
// Scheme for Partitioning Irregular Graphs; Fiduccia, Mattheyses 1982, A Linear-Time Heuristic for Improving Network Partitions.
#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>

#include "firstlight/mapping/random.hpp"
#include "firstlight/mapping/search.hpp"

namespace fl::mapping {

namespace {

using Vertex = std::uint32_t;

struct Graph {
  std::vector<std::size_t> first{0};
  std::vector<Vertex> to;
  std::vector<double> bytes;  // of each edge
  std::vector<Rank> weight;   // ranks in each vertex
  std::vector<double> pull;   // what it is worth that a vertex is in half 0 rather than in half 1
  Vertex size() const { return static_cast<Vertex>(weight.size()); }
};

struct Edge {
  Vertex from, to;
  double bytes;
};

Graph graph_of(Vertex size, std::vector<Edge>& edges) {
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return std::pair(a.from, a.to) < std::pair(b.from, b.to); });
  Graph g;
  g.first.assign(size + 1, 0);
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (i > 0 && edges[i].from == edges[i - 1].from && edges[i].to == edges[i - 1].to) {
      g.bytes.back() += edges[i].bytes;
      continue;
    }
    g.to.push_back(edges[i].to);
    g.bytes.push_back(edges[i].bytes);
    ++g.first[edges[i].from + 1];
  }
  std::partial_sum(g.first.begin(), g.first.end(), g.first.begin());
  g.weight.assign(size, 1);
  g.pull.assign(size, 0);
  return g;
}

// Each vertex with the neighbour that it has most bytes with, if both are free: the vertex of the coarser graph of each.
std::vector<Vertex> matched(const Graph& g, Rank heaviest, Random& random, Vertex& coarse) {
  std::vector<Vertex> order(g.size()), into(g.size(), g.size());
  std::iota(order.begin(), order.end(), Vertex{0});
  random.shuffle(order);
  coarse = 0;
  for (const Vertex v : order) {
    if (into[v] != g.size()) continue;
    Vertex best = v;
    double most = 0;
    for (std::size_t e = g.first[v]; e < g.first[v + 1]; ++e) {
      const Vertex u = g.to[e];
      if (u == v || into[u] != g.size() || g.weight[v] + g.weight[u] > heaviest || g.bytes[e] <= most) continue;
      best = u;
      most = g.bytes[e];
    }
    into[v] = into[best] = coarse++;
  }
  return into;
}

Graph coarser(const Graph& g, const std::vector<Vertex>& into, Vertex size) {
  std::vector<Edge> edges;
  for (Vertex v = 0; v < g.size(); ++v)
    for (std::size_t e = g.first[v]; e < g.first[v + 1]; ++e)
      if (into[v] != into[g.to[e]]) edges.push_back({into[v], into[g.to[e]], g.bytes[e]});
  Graph c = graph_of(size, edges);
  std::fill(c.weight.begin(), c.weight.end(), 0);
  for (Vertex v = 0; v < g.size(); ++v) {
    c.weight[into[v]] += g.weight[v];
    c.pull[into[v]] += g.pull[v];
  }
  return c;
}

using Halves = std::vector<char>;  // of each vertex: 0 or 1

double worth(const Graph& g, const Halves& side) {
  double sum = 0;
  for (Vertex v = 0; v < g.size(); ++v) {
    if (side[v] == 0) sum += g.pull[v];
    for (std::size_t e = g.first[v]; e < g.first[v + 1]; ++e)
      if (side[v] != side[g.to[e]]) sum -= g.bytes[e] / 2;
  }
  return sum;
}

double gain(const Graph& g, const Halves& side, Vertex v) {
  double sum = side[v] == 0 ? -g.pull[v] : g.pull[v];
  for (std::size_t e = g.first[v]; e < g.first[v + 1]; ++e) sum += side[v] == side[g.to[e]] ? -g.bytes[e] : g.bytes[e];
  return sum;
}

// Passes of moves, each vertex once, from the half that has too many, and back to where it was best. `wanted` ranks in half 0.
void refine(const Graph& g, Halves& side, Rank wanted, int passes) {
  struct Entry {
    double gain;
    Vertex v;
    bool operator<(const Entry& e) const { return gain < e.gain || (gain == e.gain && v > e.v); }
  };
  std::vector<double> gains(g.size());
  for (int pass = 0; pass < passes; ++pass) {
    std::priority_queue<Entry> queues[2];
    Rank here = 0;
    for (Vertex v = 0; v < g.size(); ++v) {
      gains[v] = gain(g, side, v);
      queues[static_cast<std::size_t>(side[v])].push({gains[v], v});
      if (side[v] == 0) here += g.weight[v];
    }
    std::vector<char> moved(g.size(), 0);
    std::vector<Vertex> done;
    double sum = 0, best = 0;
    Rank off = here > wanted ? here - wanted : wanted - here;
    std::size_t kept = 0, since = 0;
    const auto top = [&](std::size_t s) -> const Entry* {
      auto& q = queues[s];
      while (!q.empty() && (moved[q.top().v] || q.top().gain != gains[q.top().v] || static_cast<std::size_t>(side[q.top().v]) != s))
        q.pop();
      return q.empty() ? nullptr : &q.top();
    };
    while (since < 200 + g.size() / 8) {
      const Entry *zero = top(0), *one = top(1);
      const bool from_zero = here > wanted || (here == wanted && zero != nullptr && (one == nullptr || *one < *zero));
      const Entry* chosen = from_zero ? zero : one;
      if (chosen == nullptr) break;
      const Vertex v = chosen->v;
      sum += chosen->gain;
      moved[v] = 1;
      here += side[v] == 0 ? -g.weight[v] : g.weight[v];
      side[v] = side[v] == 0 ? 1 : 0;
      done.push_back(v);
      for (std::size_t e = g.first[v]; e < g.first[v + 1]; ++e) {
        const Vertex u = g.to[e];
        if (moved[u]) continue;
        gains[u] += (side[u] == side[v] ? -2 : 2) * g.bytes[e];
        queues[static_cast<std::size_t>(side[u])].push({gains[u], u});
      }
      const Rank now = here > wanted ? here - wanted : wanted - here;
      ++since;
      if (now < off || (now == off && sum > best + 1e-9)) {
        off = now;
        best = sum;
        kept = done.size();
        since = 0;
      }
    }
    for (std::size_t i = done.size(); i > kept; --i) side[done[i - 1]] = side[done[i - 1]] == 0 ? 1 : 0;
    if (kept == 0) break;
  }
}

Halves grown(const Graph& g, Rank wanted, Random& random) {
  Halves best;
  double most = 0;
  for (int attempt = 0; attempt < 4; ++attempt) {
    Halves side(g.size(), 1);
    std::vector<double> near(g.size(), 0);
    Rank have = 0;
    auto v = static_cast<Vertex>(random.below(g.size()));
    while (have < wanted) {
      side[v] = 0;
      have += g.weight[v];
      for (std::size_t e = g.first[v]; e < g.first[v + 1]; ++e) near[g.to[e]] += 2 * g.bytes[e];
      Vertex next = g.size();
      for (Vertex u = 0; u < g.size(); ++u)
        if (side[u] == 1 && (next == g.size() || near[u] + g.pull[u] > near[next] + g.pull[next])) next = u;
      if (next == g.size()) break;
      v = next;
    }
    refine(g, side, wanted, 4);
    const double w = worth(g, side);
    if (best.empty() || w > most) best = side, most = w;
  }
  return best;
}

Halves halved(const Graph& g, Rank wanted, Random& random) {
  constexpr Vertex small = 64;
  if (g.size() > small) {
    Vertex size = 0;
    const Rank all = std::accumulate(g.weight.begin(), g.weight.end(), Rank{0});
    const std::vector<Vertex> into = matched(g, std::max<Rank>(1, all / 24), random, size);
    if (size < g.size() - g.size() / 10) {
      const Halves coarse = halved(coarser(g, into, size), wanted, random);
      Halves side(g.size());
      for (Vertex v = 0; v < g.size(); ++v) side[v] = coarse[into[v]];
      refine(g, side, wanted, 3);
      return side;
    }
  }
  return grown(g, wanted, random);
}

// Slots in two halves of whole coordinates where the longest side allows it; the first gets `slots.size() / 2` or what is next to it.
std::size_t cut_in_two(const Places& places, std::span<Slot> slots) {
  std::vector<Node> c, low, high;
  for (const Slot s : slots) {
    places.coordinates(s, c);
    if (low.empty()) low = high = c;
    for (std::size_t i = 0; i < c.size(); ++i) low[i] = std::min(low[i], c[i]), high[i] = std::max(high[i], c[i]);
  }
  // On trees and the like the highest digit is the farthest; what is inside of a node comes last everywhere.
  std::size_t axis = 0;
  const bool box = !places.network().shape().empty();
  for (std::size_t i = 1; i < low.size(); ++i)
    if (high[i] > low[i] && (!box || axis == 0 || high[i] - low[i] > high[axis] - low[axis])) axis = i;
  std::vector<std::pair<Node, Slot>> order;
  for (const Slot s : slots) {
    places.coordinates(s, c);
    order.emplace_back(c[axis], s);
  }
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) slots[i] = order[i].second;
  const std::size_t middle = slots.size() / 2;
  std::size_t before = middle, after = middle;
  while (before > 0 && order[before - 1].first == order[before].first) --before;
  while (after < order.size() && order[after - 1].first == order[after].first) ++after;
  const std::size_t near = middle - before <= after - middle ? before : after;
  return near > 0 && near < slots.size() ? near : middle;
}

struct Region {
  std::size_t slots, slots_end, ranks, ranks_end;
};

class Bisection {
 public:
  Bisection(const Pattern& pattern, const Places& places, std::uint64_t seed)
      : places_(places), random_(seed), slots_(compact(places, static_cast<std::size_t>(pattern.ranks()))) {
    std::vector<Edge> edges;
    for (const Message& m : pattern.messages()) {
      edges.push_back({static_cast<Vertex>(m.from), static_cast<Vertex>(m.to), static_cast<double>(m.bytes)});
      edges.push_back({static_cast<Vertex>(m.to), static_cast<Vertex>(m.from), static_cast<double>(m.bytes)});
    }
    all_ = graph_of(static_cast<Vertex>(pattern.ranks()), edges);
    ranks_.resize(static_cast<std::size_t>(pattern.ranks()));
    std::iota(ranks_.begin(), ranks_.end(), Vertex{0});
    standing_.assign(ranks_.size(), slots_[slots_.size() / 2]);
    local_.assign(ranks_.size(), 0);
  }
  Map run(const Stop& stop, bool& cut) {
    std::vector<Region> now{{0, slots_.size(), 0, ranks_.size()}}, next;
    while (!now.empty()) {
      next.clear();
      for (const Region& r : now) {
        if (stop()) return cut = true, Map();
        divide(r, next);
      }
      now.swap(next);
    }
    Map map(ranks_.size());
    for (std::size_t i = 0; i < ranks_.size(); ++i) map[ranks_[i]] = slots_[i];
    return map;
  }

 private:
  void divide(const Region& r, std::vector<Region>& next) {
    const std::size_t count = r.ranks_end - r.ranks;
    if (count < 2) return;
    const std::span slots = std::span(slots_).subspan(r.slots, count);
    const std::size_t first = cut_in_two(places_, slots);
    const Slot zero = slots[first / 2], one = slots[first + (count - first) / 2];
    const std::span ranks = std::span(ranks_).subspan(r.ranks, count);
    for (std::size_t i = 0; i < count; ++i) local_[ranks[i]] = static_cast<Vertex>(i) + 1;
    const Graph g = part(ranks, zero, one);
    for (const Vertex v : ranks) local_[v] = 0;
    const Halves side = halved(g, static_cast<Rank>(first), random_);
    std::vector<Vertex> sorted;
    for (const char s : {char{0}, char{1}})
      for (std::size_t i = 0; i < count; ++i)
        if (side[i] == s) sorted.push_back(ranks[i]);
    for (std::size_t i = 0; i < count; ++i) {
      ranks[i] = sorted[i];
      standing_[sorted[i]] = i < first ? zero : one;
    }
    next.push_back({r.slots, r.slots + first, r.ranks, r.ranks + first});
    next.push_back({r.slots + first, r.slots_end, r.ranks + first, r.ranks_end});
  }
  // The ranks of a region as a graph of their own; those outside pull towards the half that is nearer to where they stand.
  Graph part(std::span<const Vertex> ranks, Slot zero, Slot one) {
    Graph g;
    std::vector<Link> way;
    const auto hops = [&](Slot a, Slot b) {
      places_.route(a, b, way);
      return static_cast<double>(way.size());
    };
    const double apart = std::max(1.0, hops(zero, one));
    g.weight.assign(ranks.size(), 1);
    g.pull.assign(ranks.size(), 0);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      for (std::size_t e = all_.first[ranks[i]]; e < all_.first[ranks[i] + 1]; ++e) {
        const Vertex u = all_.to[e];
        if (local_[u] > 0) {
          g.to.push_back(local_[u] - 1);
          g.bytes.push_back(all_.bytes[e]);
        } else {
          g.pull[i] += all_.bytes[e] * (hops(standing_[u], one) - hops(standing_[u], zero)) / apart;
        }
      }
      g.first.push_back(g.to.size());
    }
    return g;
  }

  const Places& places_;
  Random random_;
  std::vector<Slot> slots_;
  Graph all_;
  std::vector<Vertex> ranks_;
  std::vector<Slot> standing_;  // of each rank: a slot of the region that it is in so far
  std::vector<Vertex> local_;   // of each rank: its number in the region plus one
};

}  // namespace

std::vector<Slot> compact(const Places& places, std::size_t count) {
  std::vector<Slot> slots = places.open();
  std::vector<std::pair<std::size_t, std::size_t>> todo{{0, slots.size()}};
  while (!todo.empty()) {
    const auto [begin, end] = todo.back();
    todo.pop_back();
    if (end - begin < 2) continue;
    const std::size_t first = begin + cut_in_two(places, std::span(slots).subspan(begin, end - begin));
    todo.emplace_back(first, end);
    todo.emplace_back(begin, first);
  }
  slots.resize(count);
  return slots;
}

Map bisected(const Pattern& pattern, const Places& places, std::uint64_t seed, const Stop& stop, bool& cut) {
  return Bisection(pattern, places, seed).run(stop, cut);
}

}  // namespace fl::mapping
