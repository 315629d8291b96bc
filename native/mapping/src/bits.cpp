// Maps that are linear over the bits of a rank: each bit of a slot's number in line is a sum modulo 2 of the rank's. An exchange of all
// ranks with those that differ from them by the same bits d (recursive doubling, halving, a hypercube) then loads the links as any other
// with the same image of d does: the cost of such a phase is looked up. Annealing (Kirkpatrick, Gelatt, Vecchi 1983) over the images of
// the ranks' bits, of which two are exchanged or one is added to another, so that they stay independent and every map is one to one.
// If a phase is not such an exchange, its greatest load is a plateau. The search then minimises the eighth power mean of all links.
#include "bits.hpp"

#include <algorithm>
#include <cmath>

namespace fl::mapping {

namespace {

constexpr std::int64_t maps = 600;  // that a start looks at, for each bit
constexpr std::size_t starts = 6;   // for each bit
constexpr double alike = 0.01;      // by how much lengths may differ: a row more or less, where they do not divide evenly
constexpr std::int64_t least_starts = 2;
constexpr double hot = 0.3, cold = 0.1;  // temperatures, in the greatest messages over the busiest links
constexpr double mean = 4;               // the weight of the mean load of all links relative to the greatest

Images changed(Images images, Random& random) {
  const std::size_t a = random.below(images.size()), b = (a + 1 + random.below(images.size() - 1)) % images.size();
  if (random.below(2) == 0)
    std::swap(images[a], images[b]);
  else
    images[a] ^= images[b];
  return images;
}

}  // namespace

std::optional<Differing> differing(const Pattern& pattern, std::size_t phase) {
  const auto messages = pattern.messages(phase);
  if (messages.empty() || messages.size() != static_cast<std::size_t>(pattern.ranks())) return {};
  const auto by = [](const Message& m) { return static_cast<std::uint32_t>(m.from ^ m.to); };
  Bytes least = messages[0].bytes, most = least;
  for (const Message& m : messages) {
    if (by(m) != by(messages[0])) return {};
    least = std::min(least, m.bytes);
    most = std::max(most, m.bytes);
  }
  if (static_cast<double>(most - least) > alike * static_cast<double>(most)) return {};
  return Differing{by(messages[0]), most};
}

Map placed(const Images& images, const Line& line) {
  Map map(line.slots.size());
  for (std::uint32_t r = 0; r < map.size(); ++r) map[r] = line.slots[image(images, r)];
  return map;
}

Bits::Bits(const Pattern& pattern, const Places& places, const Line& line)
    : pattern_(pattern),
      places_(places),
      line_(line),
      loads_(static_cast<std::size_t>(places.links()), 0),
      links_(static_cast<double>(std::max<Link>(places.existing(), 1))) {
  for (std::size_t p = 0; p < pattern.phases(); ++p) {
    const std::optional<Differing> same = differing(pattern, p);
    if (!same) {
      others_.push_back(p);
      continue;
    }
    std::size_t known = 0;
    while (known < known_.size() && known_[known].bytes != same->bytes) ++known;
    if (known == known_.size()) known_.push_back({same->bytes, std::vector<Cost>(line.slots.size(), Cost{-1, 0})});
    differ_.push_back({same->by, known});
  }
  Bytes greatest = 1;
  for (const Message& m : pattern.messages()) greatest = std::max(greatest, m.bytes);
  inverse_ = 1 / static_cast<double>(greatest);
}

std::optional<Bits::Judged> Bits::judged(const Images& images, double limit) {
  Cost sum;
  worked_ += static_cast<std::int64_t>(line_.slots.size());
  for (const auto& [by, known] : differ_) {
    const std::uint32_t far = image(images, by);
    Cost& one = known_[known].costs[far];
    if (one.maxima < 0) one = exchanged(far, known_[known].bytes);
    sum.maxima += one.maxima;
    sum.hop_bytes += one.hop_bytes;
  }
  double energy = static_cast<double>(sum.maxima) * inverse_ + spread(sum.hop_bytes);
  if (energy > limit) return {};
  if (others_.empty()) return Judged{sum, energy};
  const Map map = placed(images, line_);
  for (const std::size_t p : others_) {
    Cost one;
    bool over = false;
    powers_ = 0;
    for (const Message& m : pattern_.messages(p)) {
      load(map[static_cast<std::size_t>(m.from)], map[static_cast<std::size_t>(m.to)], m.bytes, one);
      const double left = limit - energy - spread(one.hop_bytes);
      over = left < 0 || powers_ > eighth(left) * links_;
      if (over) break;
    }
    clear();
    if (over) return {};
    energy += std::sqrt(std::sqrt(std::sqrt(powers_ / links_))) + spread(one.hop_bytes);
    sum.maxima += one.maxima;
    sum.hop_bytes += one.hop_bytes;
  }
  return Judged{sum, energy};
}

double Bits::spread(Bytes hop_bytes) const { return mean * static_cast<double>(hop_bytes) * inverse_ / links_; }

Cost Bits::exchanged(std::uint32_t far, Bytes bytes) {
  Cost cost;
  for (std::uint32_t i = 0; i < line_.slots.size(); ++i) load(line_.slots[i], line_.slots[i ^ far], bytes, cost);
  clear();
  return cost;
}

void Bits::load(Slot from, Slot to, Bytes bytes, Cost& cost) {
  places_.route(from, to, way_);
  for (const Link l : way_) {
    Bytes& of = loads_[static_cast<std::size_t>(l)];
    const Bytes more = places_.load(l, bytes);
    powers_ -= eighth(static_cast<double>(of) * inverse_);
    of += more;
    powers_ += eighth(static_cast<double>(of) * inverse_);
    cost.maxima = std::max(cost.maxima, of);
    cost.hop_bytes += more;
  }
  worked_ += static_cast<std::int64_t>(way_.size());
}

void Bits::clear() {
  std::fill(loads_.begin(), loads_.end(), 0);
  worked_ += static_cast<std::int64_t>(loads_.size() / 8);
}

Walked walked(Bits& bits, const Walk& walk, const Places& places, Random& random, const Stop& stop, bool& cut, std::int64_t work) {
  Walked best;
  double least = 0;
  const std::int64_t end = bits.worked() + work, share = std::max<std::int64_t>(work / least_starts, 1);
  for (std::size_t start = 0; start < walk.starts && bits.worked() < end; ++start) {
    Images here = walk.first(random);
    double now = 0, done = 0;
    const std::int64_t begun = bits.worked();
    for (std::int64_t k = 0; done < 1 && bits.worked() < end; ++k) {
      if (stop()) {
        cut = true;
        return best;
      }
      const double heat = walk.hot * std::pow(walk.cold / walk.hot, done);
      const Images next = k == 0 ? here : walk.next(here, random);
      const double limit = k == 0 ? 1e300 : now - heat * std::log(1 - random.unit());
      const auto judged = bits.judged(next, limit);
      done = std::max(static_cast<double>(k + 1) / static_cast<double>(walk.maps),
                      static_cast<double>(bits.worked() - begun) / static_cast<double>(share));  // colder sooner where maps are costly
      if (!judged) continue;
      here = next;
      now = judged->energy;
      if (best.images.empty() || score(judged->cost, places) < least) {
        least = score(judged->cost, places);
        best = {here, judged->cost};
      }
    }
  }
  return best;
}

Found linear(const Pattern& pattern, const Places& places, const Line& line, Loads& loads, std::uint64_t seed, const Stop& stop, bool& cut,
             std::int64_t work) {
  const std::size_t ranks = line.slots.size(), bits = static_cast<std::size_t>(std::bit_width(ranks)) - 1;
  if (!std::has_single_bit(ranks) || bits < 2) return {};
  Bits all(pattern, places, line);
  if (!all.any()) return {};
  const auto any = [bits](Random& random) {
    Images images(bits);
    for (std::size_t i = 0; i < bits; ++i) images[i] = 1U << i;
    random.shuffle(images);
    return images;
  };
  Random random(seed);
  const Walked best =
      walked(all, {starts * bits, maps * static_cast<std::int64_t>(bits), hot, cold, any, changed}, places, random, stop, cut, work);
  if (best.images.empty()) return {};
  loads.place(placed(best.images, line));
  return {loads.map(), loads.cost(), "linear over bits, " + line.name};
}

}  // namespace fl::mapping
