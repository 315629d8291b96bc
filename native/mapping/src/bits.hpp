// Maps that are linear over the bits of a rank, and their cost.
#pragma once

#include <bit>
#include <functional>
#include <optional>

#include "firstlight/mapping/random.hpp"
#include "firstlight/mapping/search.hpp"

namespace fl::mapping {

using Images = std::vector<std::uint32_t>;  // of the ranks' bits

inline std::uint32_t image(const Images& images, std::uint32_t rank) {
  std::uint32_t sum = 0;
  for (; rank != 0; rank &= rank - 1) sum ^= images[static_cast<std::size_t>(std::countr_zero(rank))];
  return sum;
}

// Where every rank sends as much, except for a hundredth, to the rank that differs from it by the same bits. `bytes`: the most.
struct Differing {
  std::uint32_t by;
  Bytes bytes;
};
std::optional<Differing> differing(const Pattern& pattern, std::size_t phase);

// The slot of each rank: that of its image in line.
Map placed(const Images& images, const Line& line);

// The cost of maps with some images. Their image determines the cost of a phase that is an exchange by bits: it is looked up.
// Where lengths differ a little, that is a little too much.
class Bits {
 public:
  // Keep all three alive.
  Bits(const Pattern& pattern, const Places& places, const Line& line);
  struct Judged {
    Cost cost;
    double energy;
  };
  // The cost of a map, unless its energy is above the limit.
  std::optional<Judged> judged(const Images& images, double limit);
  std::int64_t worked() const { return worked_; }
  bool any() const { return !differ_.empty(); }

 private:
  struct Known {
    Bytes bytes;
    std::vector<Cost> costs;  // by the image of the bits in which partners differ; maxima -1: not yet known
  };
  Cost exchanged(std::uint32_t far, Bytes bytes);
  void load(Slot from, Slot to, Bytes bytes, Cost& cost);
  double spread(Bytes hop_bytes) const;
  static double eighth(double x) {
    const double x2 = x * x, x4 = x2 * x2;
    return x4 * x4;
  }
  void clear();

  const Pattern& pattern_;
  const Places& places_;
  const Line& line_;
  struct Phase {
    std::uint32_t by;
    std::size_t known;
  };
  std::vector<Phase> differ_;
  std::vector<Known> known_;         // of each length of messages
  std::vector<std::size_t> others_;  // phases that are not such an exchange
  std::vector<Bytes> loads_;
  std::vector<Link> way_;
  double links_, inverse_ = 1;  // the greatest message is the unit
  double powers_ = 0;           // sum of the eighth powers of loads, in units
  std::int64_t worked_ = 0;
};

// Annealing over images: where a start begins, and what is near.
struct Walk {
  std::size_t starts;
  std::int64_t maps;  // that a start looks at
  double hot, cold;   // temperatures, in the greatest messages over the busiest links
  std::function<Images(Random&)> first;
  std::function<Images(Images, Random&)> next;
};
struct Walked {
  Images images;  // empty: none was looked at
  Cost cost;
};
// The best that is met. `work`: links that are loaded at most, about.
Walked walked(Bits& bits, const Walk& walk, const Places& places, Random& random, const Stop& stop, bool& cut, std::int64_t work);

}  // namespace fl::mapping
