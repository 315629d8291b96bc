// The cost of a map, updated move by move: only messages of ranks that moved are routed again.
#pragma once

#include <span>
#include <vector>

#include "firstlight/mapping/pattern.hpp"
#include "firstlight/mapping/places.hpp"

namespace fl::mapping {

using Map = std::vector<Slot>;  // of each rank

// Each rank in an open slot of its own. Raises Wrong.
void check(const Map& map, const Pattern& pattern, const Places& places);
// Rank r in the r-th open slot. Raises Wrong where there are too few.
Map identity(const Pattern& pattern, const Places& places);

// Numbers that change one by one, and the greatest of them: a tournament of blocks of 64. A block is looked through again only when
// its greatest may have changed and is needed. In addition the sum of their eighth powers, whose root is near the greatest but
// falls with each of the great ones: what an annealing can walk down where the greatest alone is a plateau.
class Peaks {
 public:
  explicit Peaks(std::size_t size);
  void add(std::size_t i, Bytes change) {
    Bytes& value = levels_[0][i];
    const Bytes was = value, top = levels_[1][i / block];
    value += change;
    powers_ += eighth(value) - eighth(was);
    if (value > top || (was == top && change < 0)) touch(0, i / block);
  }
  double powers() const { return powers_; }  // in units of `unit`
  // Sums the powers anew, in units of so many bytes: what was rounded is forgotten.
  void sum_powers(double unit);
  Bytes most();
  std::size_t where();  // one of the greatest
  std::span<const Bytes> values() const { return std::span(levels_[0]).first(size_); }
  void clear();

 private:
  static constexpr std::size_t block = 64;
  double eighth(Bytes value) const {
    const double x = static_cast<double>(value) * inverse_, x2 = x * x, x4 = x2 * x2;
    return x4 * x4;
  }
  void touch(std::size_t level, std::size_t which) {
    if (touched_[level][which]) return;
    touched_[level][which] = 1;
    waiting_[level].push_back(which);
  }
  std::size_t size_;
  double inverse_ = 1e-6, powers_ = 0;
  std::vector<std::vector<Bytes>> levels_;  // the values, the greatest of each block, ..., the greatest of all
  std::vector<std::vector<char>> touched_;
  std::vector<std::vector<std::size_t>> waiting_;
};

struct Cost {
  Bytes maxima = 0;     // sum over phases of the load of the busiest link
  Bytes hop_bytes = 0;  // sum over links of what crosses them
  bool operator==(const Cost&) const = default;
};

class Loads {
 public:
  // Keep the pattern and the places alive.
  Loads(const Pattern& pattern, const Places& places);

  void place(const Map& map);  // all of it, from the start
  // Exchanges what is in two open slots; either may be empty. undo() takes back the last exchange.
  void exchange(Slot a, Slot b);
  void undo();

  Cost cost();
  // Sum over phases of the eighth power mean of all links' loads, in bytes. settle() first, and now and then: it sums the powers anew.
  double smooth() const;
  void settle();
  Bytes most(std::size_t phase) { return peaks_[phase].most(); }
  Link busiest(std::size_t phase) { return static_cast<Link>(peaks_[phase].where()); }
  std::span<const Bytes> loads(std::size_t phase) const { return peaks_[phase].values(); }
  const Map& map() const { return map_; }
  Slot slot(Rank rank) const { return map_[static_cast<std::size_t>(rank)]; }
  Rank rank(Slot slot) const { return ranks_[static_cast<std::size_t>(slot)]; }  // -1: empty
  std::span<const Link> way(const Message& message) {
    places_.route(slot(message.from), slot(message.to), way_);
    return way_;
  }
  // The approximate bytes of memory of one of these.
  static double memory(const Pattern& pattern, const Places& places);

 private:
  struct Change {
    std::int32_t phase;
    Link link;
    Bytes bytes;
  };
  void put(const Message& m, int sign);
  void put_all(Slot a, Slot b, int sign);
  void stand(Rank rank, Slot slot);

  const Pattern& pattern_;
  const Places& places_;
  Map map_;
  std::vector<Rank> ranks_;
  std::vector<Peaks> peaks_;
  Bytes hop_bytes_ = 0;
  double unit_ = 1;  // of the powers, in bytes
  std::vector<Link> way_;
  std::vector<Change> changes_;  // of the last exchange
  bool noting_ = true;           // changes
  Slot last_a_ = 0, last_b_ = 0;
};

}  // namespace fl::mapping
