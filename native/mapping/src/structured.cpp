// Structured maps: the digits of a rank, in a mixed radix, become those of a slot. Rows of a process grid become blocks of a torus, a
// grid is folded or turned, recursive halving goes over the shortest ways: all are permutations of digits, some of them reflected (so
// that counting up turns at each end, as Gray's code does) or with another digit added (so that rows are shifted against each other).
#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

#include "firstlight/mapping/random.hpp"
#include "firstlight/mapping/search.hpp"

namespace fl::mapping {

namespace {

std::vector<Rank> primes(Rank n) {
  std::vector<Rank> found;
  for (Rank p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p) found.push_back(p);
  if (n > 1) found.push_back(n);
  return found;
}

struct Shear {
  std::size_t to, from;  // digits of the slot: the first gets the second added
  bool operator==(const Shear&) const = default;
};

// Digit i of the rank (radix ranks[i]) is digit place[i] of the slot.
struct Linear {
  std::vector<Rank> ranks;
  std::vector<std::size_t> place;
  std::vector<char> reflected;  // of the slot's digits
  std::vector<Shear> shears;
};

Map apply(const Linear& linear, const Line& line) {
  const std::size_t n = line.radices.size();
  std::vector<std::int64_t> strides(n, 1);
  for (std::size_t i = 1; i < n; ++i) strides[i] = strides[i - 1] * line.radices[i - 1];
  Map map(line.slots.size());
  std::vector<Rank> digits(n);
  for (std::size_t rank = 0; rank < map.size(); ++rank) {
    auto left = static_cast<Rank>(rank);
    for (std::size_t i = 0; i < n; ++i) {
      digits[linear.place[i]] = left % linear.ranks[i];
      left /= linear.ranks[i];
    }
    for (const Shear& s : linear.shears) digits[s.to] = (digits[s.to] + digits[s.from]) % line.radices[s.to];
    std::int64_t at = 0;
    Rank above = 0;  // the sum of higher digits: its parity decides whether this one counts down
    for (std::size_t i = n; i-- > 0;) {
      const Rank d = linear.reflected[i] && above % 2 == 1 ? line.radices[i] - 1 - digits[i] : digits[i];
      above += digits[i];
      at += d * strides[i];
    }
    map[rank] = line.slots[static_cast<std::size_t>(at)];
  }
  return map;
}

// The rank's digits in their order take the first digit of the slot that is free and has their radix.
bool assign(const std::vector<Rank>& ranks, const std::vector<std::size_t>& order, const Line& line, Linear& out) {
  out = {.ranks = ranks, .place = std::vector<std::size_t>(ranks.size(), 0), .reflected = std::vector<char>(ranks.size(), 0), .shears = {}};
  std::vector<char> taken(ranks.size(), 0);
  for (const std::size_t i : order) {
    std::size_t k = 0;
    while (k < taken.size() && (taken[k] || line.radices[k] != ranks[i])) ++k;
    if (k == taken.size()) return false;
    taken[k] = 1;
    out.place[i] = k;
  }
  return true;
}

// Digits in the orders that turn the axes of the ranks: `axes` has the begin of each of them.
std::vector<std::vector<std::size_t>> turns(const std::vector<std::size_t>& axes, std::size_t digits) {
  std::vector<std::size_t> order(axes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::vector<std::size_t>> all;
  do {
    std::vector<std::size_t> one;
    for (const std::size_t a : order)
      for (std::size_t i = axes[a]; i < (a + 1 < axes.size() ? axes[a + 1] : digits); ++i) one.push_back(i);
    all.push_back(std::move(one));
  } while (all.size() < 24 && std::next_permutation(order.begin(), order.end()));
  return all;
}

enum class What { swap, reflect, shear };

struct Change {
  What what;
  std::size_t a, b;
};

Linear changed(const Linear& from, const Change& c) {
  Linear to = from;
  if (c.what == What::swap) {
    std::swap(to.place[c.a], to.place[c.b]);
  } else if (c.what == What::reflect) {
    to.reflected[c.a] = !to.reflected[c.a];
  } else {
    const Shear s{c.a, c.b};
    const auto old = std::find(to.shears.begin(), to.shears.end(), s);
    if (old != to.shears.end())
      to.shears.erase(old);
    else
      to.shears.push_back(s);
  }
  return to;
}

std::vector<Change> changes(const Linear& from, const Line& line, const std::vector<What>& kinds) {
  std::vector<Change> all;
  const auto add = [&](What what, std::size_t a, std::size_t b) {
    if (std::find(kinds.begin(), kinds.end(), what) != kinds.end()) all.push_back({what, a, b});
  };
  const std::size_t n = line.radices.size();
  for (std::size_t a = 0; a < n; ++a) {
    add(What::reflect, a, a);
    for (std::size_t b = 0; b < n; ++b) {
      if (a < b && from.ranks[a] == from.ranks[b]) add(What::swap, a, b);
      if (a != b && line.radices[a] == line.radices[b]) add(What::shear, a, b);
    }
  }
  return all;
}

// Up the hill by changes that help, until none does or there were enough evaluations. The best of all is kept.
class Climb {
 public:
  Climb(const Line& line, const Places& places, Loads& loads, const Stop& stop, std::int64_t most)
      : line_(line), places_(places), loads_(loads), stop_(stop), most_(most) {}

  bool consider(const Linear& linear) {
    if (over()) return false;
    ++evaluated_;
    Map map = apply(linear, line_);
    loads_.place(map);
    const Cost cost = loads_.cost();
    const double now = score(cost, places_);
    if (best_.map.empty() || now < score(best_.cost, places_)) {
      best_ = {std::move(map), cost, "structured, " + line_.name};
      top_ = linear;
    }
    if (here_.ranks.empty() || now < height_) {
      here_ = linear;
      height_ = now;
      return true;
    }
    return false;
  }
  void up(const std::vector<What>& kinds, Random& random) {
    for (bool better = true; better && !over();) {
      better = false;
      std::vector<Change> all = changes(here_, line_, kinds);
      random.shuffle(all);
      for (const Change& c : all) {
        if (over()) return;
        better = consider(changed(here_, c)) || better;
      }
    }
  }
  // Some digits of the best change places.
  void jump(Random& random) {
    Linear far = top_;
    std::vector<Change> all = changes(far, line_, {What::swap});
    for (std::size_t k = 0; k < 3 + random.below(4) && !all.empty(); ++k) far = changed(far, all[random.below(all.size())]);
    here_ = {};
    if (!consider(far)) here_ = far;
  }
  void back() {
    here_ = top_;
    height_ = score(best_.cost, places_);
  }
  double spent() const { return cut_ ? 1 : static_cast<double>(evaluated_) / static_cast<double>(most_); }
  bool cut() const { return cut_; }
  const Found& best() const { return best_; }

 private:
  bool over() {
    if (stop_()) cut_ = true;
    return cut_ || evaluated_ >= most_;
  }
  const Line& line_;
  const Places& places_;
  Loads& loads_;
  const Stop& stop_;
  std::int64_t most_, evaluated_ = 0;
  bool cut_ = false;
  Found best_;
  Linear top_, here_;
  double height_ = 0;
};

// How many maps may be evaluated, so that it takes seconds.
std::int64_t evaluations(const Pattern& pattern, const Places& places, Loads& loads) {
  constexpr std::int64_t work = 1'000'000'000;  // links that are loaded
  loads.place(identity(pattern, places));
  std::int64_t hops = 1;
  for (const Message& m : pattern.messages()) hops += static_cast<std::int64_t>(loads.way(m).size());
  return std::clamp<std::int64_t>(work / hops, 40,
                                  200 * static_cast<std::int64_t>(std::bit_width(static_cast<std::uint32_t>(pattern.ranks()))));
}

}  // namespace

std::vector<Rank> strides(const Pattern& pattern) {
  std::map<Rank, Bytes> far;
  for (const Message& m : pattern.messages()) far[m.from < m.to ? m.to - m.from : m.from - m.to] += m.bytes;
  std::vector<std::pair<Bytes, Rank>> most;
  for (const auto& [d, bytes] : far)
    if (pattern.ranks() % d == 0) most.emplace_back(bytes, d);
  std::sort(most.rbegin(), most.rend());
  std::vector<Rank> chain{1, pattern.ranks()};  // each divides the next
  for (std::size_t i = 0; i < std::min<std::size_t>(most.size(), 32); ++i) {
    const Rank d = most[i].second;
    const auto after = std::lower_bound(chain.begin(), chain.end(), d);
    if (after == chain.end() || *after == d) continue;
    if (*after % d == 0 && d % *(after - 1) == 0) chain.insert(after, d);
  }
  std::vector<Rank> radices;
  for (std::size_t i = 0; i + 1 < chain.size(); ++i)
    if (chain[i + 1] > chain[i]) radices.push_back(chain[i + 1] / chain[i]);
  return radices;
}

std::vector<Line> lines(const Pattern& pattern, const Places& places) {
  std::vector<Line> all;
  const auto count = static_cast<std::size_t>(pattern.ranks());
  const auto prime = [](const std::vector<Node>& extents) {
    std::vector<Rank> found;
    for (const Node e : extents)
      for (const Rank p : primes(e)) found.push_back(p);
    return found;
  };
  if (count == static_cast<std::size_t>(places.slots()) && places.open().size() == count) {
    Line numbered{"digits", {}, prime(places.digits()), places.digits()};
    for (std::size_t i = 0; i < count; ++i) numbered.slots.push_back(places.numbered(static_cast<std::int64_t>(i)));
    const bool same = numbered.slots == places.open();
    all.push_back(std::move(numbered));
    if (!same) {
      std::vector<Node> shape = places.network().shape();
      if (shape.empty()) shape = {places.slots() / places.per_node()};
      if (places.per_node() > 1) shape.insert(shape.begin(), places.per_node());
      all.push_back({"axes", places.open(), prime(shape), shape});
    }
    return all;
  }
  const std::vector<Rank> radices = primes(pattern.ranks());
  all.push_back({"first slots", identity(pattern, places), radices, {}});
  all.push_back({"compact", compact(places, count), radices, {}});
  return all;
}

Found structured(const Pattern& pattern, const Places& places, const Line& line, Loads& loads, std::uint64_t seed, const Stop& stop,
                 bool& cut) {
  const std::vector<Rank> axes = strides(pattern);
  std::vector<Rank> ranks;
  std::vector<std::size_t> begins;
  for (const Rank a : axes) {
    begins.push_back(ranks.size());
    for (const Rank p : primes(a)) ranks.push_back(p);
  }
  Climb climb(line, places, loads, stop, evaluations(pattern, places, loads));
  std::vector<Linear> begun;
  for (const std::vector<std::size_t>& order : turns(begins, ranks.size())) {
    Linear linear;
    if (assign(ranks, order, line, linear)) begun.push_back(std::move(linear));
  }
  if (begun.empty()) return {};  // the radices do not fit
  Random random(seed);
  random.shuffle(begun);
  for (const Linear& l : begun) climb.consider(l);
  climb.up({What::swap}, random);
  for (std::size_t k = 0; k < 4 * ranks.size() && climb.spent() < 0.6; ++k) {  // once more from another side
    climb.jump(random);
    climb.up({What::swap}, random);
  }
  climb.back();
  climb.up({What::swap, What::reflect, What::shear}, random);
  cut = climb.cut();
  return climb.best();
}

}  // namespace fl::mapping
