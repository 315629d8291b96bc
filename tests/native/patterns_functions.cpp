// Exports the icosahedral grid with C linkage for tests in Python.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "../../native/patterns/patterns/icosahedron.hpp"

using fl::patterns::Icosahedron;
using Point = Icosahedron::Point;

namespace {

std::vector<Point> points(int g) {
  std::vector<Point> all{{Icosahedron::north_pole, 0, 0}, {Icosahedron::south_pole, 0, 0}};
  for (int rhombus = 0; rhombus < Icosahedron::rhombi; ++rhombus)
    for (Icosahedron::Number i = 1; i <= 1 << g; ++i)
      for (Icosahedron::Number j = 0; j < 1 << g; ++j) all.push_back({rhombus, i, j});
  return all;
}

std::vector<Point> neighbours(const Icosahedron& grid, const Point& p) {
  std::vector<Point> all;
  grid.each_neighbour(p, [&](const Point& q) { all.push_back(q); });
  return all;
}

}  // namespace

// Returns the number of points with this many neighbours, all different, each with this point as a neighbour; -1 if one does not have it.
extern "C" long points_with(int g, int count) {
  const Icosahedron grid(g, 0);
  const std::vector<Point> all = points(g);
  if (static_cast<long>(all.size()) != grid.points()) return -1;
  std::set<Point> known(all.begin(), all.end());
  long found = 0;
  for (const Point& p : all) {
    const std::vector<Point> near = neighbours(grid, p);
    if (std::set<Point>(near.begin(), near.end()).size() != near.size() || std::ranges::count(near, p) != 0) return -1;
    for (const Point& q : near) {
      if (!known.contains(q)) return -1;
      const std::vector<Point> back = neighbours(grid, q);
      if (std::ranges::count(back, p) != 1) return -1;
    }
    found += static_cast<int>(near.size()) == count;
  }
  return found;
}

// Counts the triangles of neighbouring points: on a sphere there are 20 * 4^g.
extern "C" long triangles(int g) {
  const Icosahedron grid(g, 0);
  long corners = 0;
  for (const Point& p : points(g)) {
    const std::vector<Point> near = neighbours(grid, p);
    for (std::size_t a = 0; a < near.size(); ++a)
      for (std::size_t b = a + 1; b < near.size(); ++b) {
        const std::vector<Point> other = neighbours(grid, near[a]);
        corners += std::ranges::count(other, near[b]);
      }
  }
  return corners / 3;
}

// The least, or the largest, number of regions that share a whole side with a region: so many pairs of neighbouring points that only a
// side has them. -1 where the pairs that are visited are not all that lead out of a region, each once.
extern "C" int edge_neighbours(int g, int r, int largest) {
  using Pair = std::tuple<Point, Point, Icosahedron::Number>;
  const Icosahedron grid(g, r);
  std::map<Icosahedron::Number, std::multiset<Pair>> pairs;
  for (const Point& p : points(g))
    for (const Point& q : neighbours(grid, p))
      if (const auto a = grid.region(p), b = grid.region(q); a != b) pairs[a].insert({p, q, b});
  int least = 99, most = 0;
  for (const auto& [region, beyond] : pairs) {
    std::multiset<Pair> visited;
    std::map<Icosahedron::Number, long> with;
    grid.each_beyond(region, [&](const Point& p, const Point& q, Icosahedron::Number other) {
      visited.insert({p, q, other});
      ++with[other];
    });
    if (visited != beyond) return -1;
    int sides = 0;
    for (const auto& [other, count] : with) sides += count >= 2 * grid.side() - 2;
    least = std::min(least, sides), most = std::max(most, sides);
  }
  return static_cast<long>(pairs.size()) != grid.regions() ? -1 : largest ? most : least;
}
