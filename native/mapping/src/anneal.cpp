// Annealing (Kirkpatrick, Gelatt, Vecchi 1983): exchanges of two slots, of which empty ones may be one. Half of the moves bring a rank
// beside a partner, some take a message off the busiest link of a phase, the others are any exchange.
#include <cmath>

#include "firstlight/mapping/random.hpp"
#include "firstlight/mapping/search.hpp"

namespace fl::mapping {

namespace {

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

}  // namespace

Found annealed(const Pattern& pattern, const Places& places, const Found& start, Loads& loads, double heat, std::int64_t moves,
               std::uint64_t seed, const Stop& stop, const std::function<void(const Cost&)>& say, bool& cut) {
  Random random(seed);
  loads.place(start.map);
  Found best = start;
  best.cost = loads.cost();
  Moves proposals(pattern, places, loads, random);
  double now = score(best.cost, places), least = now;
  double usual = 0;  // what a move changes, at first
  constexpr int tried = 64;
  for (int k = 0; k < tried; ++k) {
    const auto [a, b] = proposals.next();
    loads.exchange(a, b);
    usual += std::fabs(score(loads.cost(), places) - now) / tried;
    loads.undo();
  }
  const double hot = std::max(heat * usual, 1e-12), cold = 1e-3 * hot;
  for (std::int64_t k = 0; k < moves; ++k) {
    if (k % 32 == 0 && stop()) {
      cut = true;
      break;
    }
    const double temperature = hot * std::pow(cold / hot, static_cast<double>(k) / static_cast<double>(moves));
    const auto [a, b] = proposals.next();
    if (a == b) continue;
    loads.exchange(a, b);
    const Cost cost = loads.cost();
    const double then = score(cost, places);
    if (then > now && random.unit() >= std::exp((now - then) / temperature)) {
      loads.undo();
      continue;
    }
    now = then;
    if (now < least) {
      least = now;
      best.map = loads.map();
      best.cost = cost;
      best.by = start.by + ", annealed";
      say(cost);
    }
  }
  return best;
}

}  // namespace fl::mapping
