// Annealing (Kirkpatrick, Gelatt, Vecchi 1983): exchanges of two slots, of which empty ones may be one. Half of the moves bring a rank
// beside a partner, some take a message off the busiest link of a phase, the others are any exchange. The objective is not a plateau: it is
// a mean of high power instead of the greatest load of each phase. The best map is chosen by the greatest loads themselves.
#include <algorithm>
#include <cmath>

#include "firstlight/mapping/random.hpp"
#include "firstlight/mapping/search.hpp"

namespace fl::mapping {

namespace {

constexpr double coldest = 0.1;    // of the heat at first
constexpr std::size_t looks = 16;  // messages that are looked at for one that crosses the busiest link

class Moves {
 public:
  Moves(const Pattern& pattern, const Places& places, Loads& loads, Random& random)
      : pattern_(pattern), loads_(loads), random_(random), open_(places.open()), near_(compact(places, open_.size())) {
    order_.resize(static_cast<std::size_t>(places.slots()));
    for (std::size_t i = 0; i < open_.size(); ++i) order_[static_cast<std::size_t>(open_[i])] = i;
    at_.resize(static_cast<std::size_t>(places.slots()));
    for (std::size_t i = 0; i < near_.size(); ++i) at_[static_cast<std::size_t>(near_[i])] = i;
  }
  std::pair<Slot, Slot> next() {
    const double kind = random_.unit();
    Rank rank = static_cast<Rank>(random_.below(static_cast<std::size_t>(pattern_.ranks())));
    if (kind < 0.3) rank = crowded(rank);
    const Slot from = loads_.slot(rank);
    if (kind < 0.7 && !pattern_.of(rank).empty()) {
      const auto some = pattern_.of(rank);
      const Message& m = pattern_.messages()[some[random_.below(some.size())]];
      return {from, beside(loads_.slot(m.from == rank ? m.to : m.from))};
    }
    if (kind < 0.85) return {from, beside(from)};
    return {from, open_[random_.below(open_.size())]};
  }

 private:
  // A slot that is not far, by the order in which any piece is compact, or by the number.
  Slot beside(Slot slot) {
    const bool compactly = random_.below(2) == 0;
    const std::vector<Slot>& line = compactly ? near_ : open_;
    const std::size_t reach = std::size_t{1} << random_.below(6), here = (compactly ? at_ : order_)[static_cast<std::size_t>(slot)];
    const std::size_t low = here > reach ? here - reach : 0, high = std::min(here + reach, line.size() - 1);
    return line[low + random_.below(high - low + 1)];
  }
  // A rank with a message over the busiest link of some phase, if a few looks find one.
  Rank crowded(Rank otherwise) {
    const std::size_t phase = random_.below(pattern_.phases());
    const auto messages = pattern_.messages(phase);
    if (messages.empty()) return otherwise;
    const Link busy = loads_.busiest(phase);
    for (std::size_t k = 0; k < looks; ++k) {
      const Message& m = messages[random_.below(messages.size())];
      for (const Link l : loads_.way(m))
        if (l == busy) return random_.below(2) == 0 ? m.from : m.to;
    }
    return otherwise;
  }

  const Pattern& pattern_;
  Loads& loads_;
  Random& random_;
  const std::vector<Slot>& open_;
  std::vector<Slot> near_;
  std::vector<std::size_t> order_, at_;
};

// How far it is: by moves, and faster where the time would end before them.
class Course {
 public:
  Course(std::int64_t moves, const Stop& stop) : stop_(stop), step_(1 / static_cast<double>(std::max<std::int64_t>(moves, 1))) {}
  // After each move; true at the end.
  bool over() {
    done_ += step_;
    if (++moves_ % often == 0) look();
    return done_ >= 1 || ended_;
  }
  double done() const { return done_; }
  bool cut() const { return hurried_ || ended_; }

 private:
  static constexpr std::int64_t often = 32, settled = 64 * often;  // moves between two looks at the clock; before speed is known
  void look() {
    if (stop_()) ended_ = true;
    if (moves_ % settled != 0) return;
    const double now = stop_.seconds(), each = (now - began_) / static_cast<double>(moves_), left = stop_.left();
    const double fits = std::max(1.0, left / std::max(each, 1e-12));
    if ((1 - done_) / step_ <= fits) return;
    step_ = (1 - done_) / fits;
    hurried_ = true;
  }

  const Stop& stop_;
  double step_, done_ = 0, began_ = stop_.seconds();
  std::int64_t moves_ = 0;
  bool hurried_ = false, ended_ = false;
};

}  // namespace

Found annealed(const Pattern& pattern, const Places& places, const Found& start, Loads& loads, double heat, std::int64_t moves,
               std::uint64_t seed, const Stop& stop, const std::function<void(const Found&)>& report, bool& cut) {
  Random random(seed);
  loads.place(start.map);
  Found best = start;
  best.cost = loads.cost();
  double least = score(best.cost, places);
  Moves proposals(pattern, places, loads, random);
  loads.settle();
  double now = loads.smooth();
  const double hot = std::max(heat * now / static_cast<double>(pattern.ranks()), 1e-12), cold = coldest * hot;
  constexpr std::int64_t rounded = 1 << 16;  // moves after which powers are summed anew
  Course course(moves, stop);
  for (std::int64_t k = 1; !course.over(); ++k) {
    if (k % rounded == 0) {
      loads.settle();
      now = loads.smooth();
    }
    const auto [a, b] = proposals.next();
    if (a == b) continue;
    loads.exchange(a, b);
    const double then = loads.smooth();
    if (then > now && random.unit() >= std::exp((now - then) / (hot * std::pow(cold / hot, course.done())))) {
      loads.undo();
      continue;
    }
    now = then;
    const Cost cost = loads.cost();
    const double height = score(cost, places);
    if (height < least) {
      least = height;
      best.map = loads.map();
      best.cost = cost;
      best.by = start.by + ", annealed";
      report(best);
    }
  }
  cut = course.cut();
  return best;
}

}  // namespace fl::mapping
