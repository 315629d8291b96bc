// Bands of lines, a thread each, and what is kept of a band while it is gone over from south to north: a few lines, of one strip of columns
// after the other.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "firstlight/caches.hpp"
#include "firstlight/nontemporal.hpp"
#include "sea.hpp"

namespace ocean {

// band(mine, share): of so many lines those of each thread that has some.
template <class Team, class Visit>
void each_band(const Team& team, Index lines, const Visit& band) {
  team([&](Index share, Index shares) {
    const fl::Part mine = fl::part(lines, shares, share);
    if (mine.size() > 0) band(mine, share);
  });
}

// Some lines of a field, of which a new one takes the place of that four before; so many cells from `first` on, and a vector on both sides of
// them. A cell more may be read there.
class Ring {
 public:
  static constexpr Index kept_lines = 4, beside = 8;  // lines; cells
  static Index whole(Index cells) { return (cells + beside - 1) / beside * beside; }
  Ring() = default;
  Ring(Index layers, Index width) : pitch_(whole(beside + width + beside)), memory_(beside + layers * kept_lines * pitch_ + beside) {}
  struct View {
    double* origin;
    Index pitch;
    double& operator()(Index k, Index j, Index i) const { return origin[line(k, j) + i]; }
    Index line(Index k, Index j) const { return (k * kept_lines + (j & (kept_lines - 1))) * pitch; }
  };
  View view() { return {memory_.data() + 2 * beside - first, pitch_}; }
  Index first = 0;

 private:
  Index pitch_ = 0;
  fl::Array<double> memory_;
};

// What follows from a flow, of all layers. A workload adds its own.
struct Lines {
  Ring flux_u, flux_v, potential, head, vorticity, spread;
  std::array<Ring*, 6> layered() { return {&flux_u, &flux_v, &potential, &head, &vorticity, &spread}; }
  std::array<Ring*, 0> flat() { return {}; }  // of one layer
};

// Where a line is in a field, or among lines of one: the same place in all fields of as many cells, and among all lines of as many.
inline Index line(const grid::View<double, 3>& field, Index k, Index j) { return k * field.stride[0] + j * field.stride[1]; }
inline Index line(const Ring::View& ring, Index k, Index j) { return ring.line(k, j); }
template <class Field>
auto origin(Field& field) {
  return field.view().origin;
}

// Columns [begin, end) of a block; from `from` to `to`, whole vectors alone, with three cells at least on both sides, which lines hold, too.
struct Strip {
  Index begin, end, from, to;
};

// Lines of one kind, for one strip of so many columns after the other.
template <class Kept>
class Band {
 public:
  Band(Index layers, Index columns, Index width) : columns_(columns), width_(Ring::whole(width)) {
    for (Ring* ring : lines_.layered()) *ring = Ring(layers, width_);
    for (Ring* ring : lines_.flat()) *ring = Ring(1, width_);
  }
  // Columns of strips of one width whose lines take half of the second cache.
  static Index in_cache(Index layers, Index columns) {
    const Index a_column = static_cast<Index>(Kept{}.layered().size()) * Ring::kept_lines * layers * static_cast<Index>(sizeof(double));
    const Index most = std::max<Index>(64, fl::second_level_cache() / 2 / a_column), strips = (columns + most - 1) / most;
    return (columns + strips - 1) / strips;
  }
  template <class Visit>
  void each_strip(const Visit& visit) {
    for (Index begin = 0; begin < columns_; begin += width_) {
      for (Ring* ring : lines_.layered()) ring->first = begin;
      for (Ring* ring : lines_.flat()) ring->first = begin;
      const Index end = std::min(begin + width_, columns_);
      visit(lines_, Strip{begin, end, begin - Ring::beside, Ring::whole(end + 3)});
    }
  }

 private:
  Kept lines_;
  Index columns_, width_;
};

// visit(kept, mine, strip): a thread for each band of so many lines, from south to north, one strip of it after the other.
template <class Team, class Kept, class Visit>
void in_bands(const Team& team, Index lines, std::vector<Band<Kept>>& bands, const Visit& visit) {
  each_band(team, lines, [&](const fl::Part& mine, Index share) {
    bands[static_cast<std::size_t>(share)].each_strip([&](Kept& kept, const Strip& at) { visit(kept, mine, at); });
    fl::nontemporal::fence();
  });
}

}  // namespace ocean
