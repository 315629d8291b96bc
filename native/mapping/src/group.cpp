// Within a block, annealing (Kirkpatrick, Gelatt, Vecchi 1983) requests a map of which no link carries more than so much in a phase, and
// requests less and less: from a map that is near, what is left to be done is small and definite, while a mean of powers falls by what
// is not required.
#include "group.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fl::mapping {

namespace {

constexpr double hot = 1, cold = 0.3;   // temperatures, in squares of messages too many
constexpr std::int64_t moves = 12'500;  // of a try, for each name
constexpr int tries = 10;
constexpr double least = 1e-6;  // below it, only what was rounded away is left

}  // namespace

Group::Group(const Pattern& pattern, const Places& places, const Line& line, const Groups& groups, const Images& images)
    : names_(std::uint32_t{1} << groups.inner.size()), kinds_(std::uint32_t{1} << groups.fixed.size()), at_(names_) {
  std::iota(at_.begin(), at_.end(), 0U);
  std::vector<Slot> slots;
  for (std::uint32_t m = 0; m < names_ * kinds_; ++m)
    slots.push_back(line.slots[image(images, spread(m % names_, groups.inner) | spread(m / names_, groups.fixed))]);
  std::vector<Link> seen, way;
  for (const Slot a : slots)
    for (const Slot b : slots) {
      places.route(a, b, way);
      seen.insert(seen.end(), way.begin(), way.end());
    }
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  for (const Slot a : slots)
    for (const Slot b : slots) {
      places.route(a, b, way);
      begins_.push_back(ways_.size());
      for (const Link l : way) ways_.push_back(static_cast<std::uint32_t>(std::lower_bound(seen.begin(), seen.end(), l) - seen.begin()));
    }
  begins_.push_back(ways_.size());
  for (std::size_t p = 0; p < pattern.phases(); ++p)
    if (const auto same = differing(pattern, p))
      add(gathered(same->by, groups.inner), gathered(same->by, groups.fixed), same->bytes, seen.size());
  for (const Phase& p : phases_) unit_ = std::max(unit_, static_cast<double>(p.bytes));
  all_messages();
  for (Phase& p : phases_) p.limit = p.most();
}

std::vector<std::uint32_t> Group::lowered(Random& random, const Stop& stop, bool& cut) {
  std::vector<std::uint32_t> best = at_;
  bool large = true;
  for (int failed = 0; failed < tries && !cut;) {
    const auto busiest =
        std::max_element(phases_.begin(), phases_.end(), [](const Phase& a, const Phase& b) { return a.room() < b.room(); });
    if (busiest == phases_.end() || busiest->room() <= 0) break;
    const Bytes before = busiest->limit, spare = busiest->room() / busiest->bytes;
    large = large && spare > 3;
    busiest->limit -= large ? spare / 2 * busiest->bytes : busiest->bytes;
    if (reached(random, stop, cut)) {
      best = at_;
      for (Phase& p : phases_) p.limit = std::min(p.limit, p.most());
      failed = 0;
    } else {
      busiest->limit = before;
      failed += !large;
      large = false;
      anew(random);
    }
  }
  return best;
}

bool Group::reached(Random& random, const Stop& stop, bool& cut) {
  excess_ = 0;
  for (const Phase& p : phases_)
    for (const Bytes l : p.loads) excess_ += squared(std::max<Bytes>(0, l - p.limit));
  const std::int64_t length = moves * names_;
  const double scale = hot * kinds_ * kinds_;
  for (std::int64_t k = 0; k < length && excess_ > least; ++k) {
    if (k % 1024 == 0 && stop()) {
      cut = true;
      return false;
    }
    const auto a = static_cast<std::uint32_t>(random.below(names_)), b = static_cast<std::uint32_t>(random.below(names_));
    if (a == b) continue;
    const double now = excess_, heat = scale * std::pow(cold / hot, static_cast<double>(k) / static_cast<double>(length));
    exchange(a, b);
    if (excess_ > now && random.unit() >= std::exp((now - excess_) / heat)) exchange(a, b);
  }
  return excess_ <= least;
}

}  // namespace fl::mapping
