// NICAM: an atmosphere on an icosahedral grid. Rhombi are cut r times into four regions; a process has one or more of them and keeps a halo
// around each, one point wide: a point goes once to each region that neighbours it. All that two processes exchange is one message.
#include <algorithm>
#include <map>

#include "icosahedron.hpp"
#include "neighbours.hpp"

namespace fl::patterns {

namespace {

using Number = Icosahedron::Number;
using Point = Icosahedron::Point;

struct Owners {
  Number regions = 10;
  Rank ranks = 1;
  bool in_turn = false;

  Rank of(Number region) const { return static_cast<Rank>(in_turn ? region % ranks : part_of(regions, ranks, region)); }
  template <class Visit>
  void each(Rank me, Visit visit) const {
    if (in_turn) {
      for (Number region = me; region < regions; region += ranks) visit(region);
      return;
    }
    const Part mine = part(regions, ranks, me);
    for (Number region = mine.begin; region < mine.end; ++region) visit(region);
  }
};

class Halos {
 public:
  Halos(const Icosahedron& grid, const Owners& owners, std::int64_t bytes) : grid_(grid), owners_(owners), bytes_(bytes) {}

  // Counts each point on a rim once for each region beyond that it neighbours.
  void sent(Rank me, Messages& out) const {
    std::map<Rank, std::int64_t> points;
    std::vector<Number> beyond;  // of the point that was looked at last
    owners_.each(me, [&](Number region) {
      Point last{-1};
      grid_.each_beyond(region, [&](const Point& p, const Point&, Number other) {
        if (p != last) beyond.clear();
        last = p;
        if (std::ranges::find(beyond, other) != beyond.end()) return;
        beyond.push_back(other);
        if (const Rank owner = owners_.of(other); owner != me) ++points[owner];
      });
    });
    append(points, out);
  }

  // Counts, for each region, the points beyond it that neighbour one of its own points.
  void received(Rank me, Messages& out) const {
    std::map<Rank, std::int64_t> points;
    std::vector<Point> halo;
    owners_.each(me, [&](Number region) {
      halo.clear();
      grid_.each_beyond(region, [&](const Point&, const Point& q, Number) { halo.push_back(q); });
      std::ranges::sort(halo);
      halo.erase(std::unique(halo.begin(), halo.end()), halo.end());
      for (const Point& q : halo)
        if (const Rank owner = owners_.of(grid_.region(q)); owner != me) ++points[owner];
    });
    append(points, out);
  }

 private:
  void append(const std::map<Rank, std::int64_t>& points, Messages& out) const {
    for (const auto& [peer, count] : points) out.push_back({peer, count * bytes_});
  }

  Icosahedron grid_;
  Owners owners_;
  std::int64_t bytes_;
};

Instance instance(Rank ranks, const Values& v) {
  std::int64_t r = value(v, "r"), g = value(v, "g");
  if (r < 0)
    for (r = 0; (Number{10} << 2 * r) < ranks; ++r) {
    }
  if (g < 0) g = r + 4;
  if (g < r) throw Refused("nicam needs g >= r; g=" + std::to_string(g) + " r=" + std::to_string(r) + " given");
  const Icosahedron grid(static_cast<int>(g), static_cast<int>(r));
  if (grid.regions() < ranks)
    throw Refused("nicam with r=" + std::to_string(r) + " has " + std::to_string(grid.regions()) +
                  " regions, but needs at least one per process; " + std::to_string(ranks) + " processes given");
  // The neighbours of each region are enumerated: this limit keeps that to seconds.
  if (const Number most = std::max(Number{1} << 21, Number{16} * ranks); grid.regions() > most)
    throw Refused("nicam with r=" + std::to_string(r) + " has " + std::to_string(grid.regions()) + " regions; at most " +
                  std::to_string(most) + " for " + std::to_string(ranks) + " processes; use a smaller r");
  const Owners owners{.regions = grid.regions(), .ranks = ranks, .in_turn = value(v, "owners") == 1};
  const Halos halos(grid, owners, 8 * value(v, "layers") * value(v, "variables"));
  return {.iterations = 1000,
          .phases = {{.name = "halos of regions",
                      .sends = [halos](Rank me, Messages& out) { halos.sent(me, out); },
                      .receives = [halos](Rank me, Messages& out) { halos.received(me, out); }}}};
}

}  // namespace

FL_PATTERN(nicam){
    .name = "nicam",
    .title = "halos of regions of an icosahedral grid: irregular, many partners",
    .applications = "NICAM (icosahedral atmosphere)",
    .source = "send and receive with up to 19 partners by R4's table of applications; Tomita, Satoh 2004, Fluid Dynamics Research 34",
    .parameters = {{.name = "r",
                    .value = -1,
                    .least = -1,
                    .most = 12,
                    .means = "recursive divisions of each rhombus into four regions; -1: the minimum that provides each process with one"},
                   {.name = "g",
                    .value = -1,
                    .least = -1,
                    .most = 16,
                    .means = "recursive divisions into four points: 10 * 4^g + 2 points; -1: r + 4"},
                   {.name = "layers", .value = 40, .least = 1, .most = 1000, .means = "layers of the atmosphere"},
                   {.name = "variables", .value = 6, .least = 1, .most = 1000, .means = "doubles per point and layer in a message"},
                   {.name = "owners",
                    .value = 0,
                    .means = "distribution of regions: contiguous neighbours, or round-robin",
                    .words = {"contiguous", "robin"}}},
    .small = {"g=5", "layers=1"},
    .instance = instance};

}  // namespace fl::patterns
