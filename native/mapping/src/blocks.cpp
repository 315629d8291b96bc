// Maps of groups that are alike, each in a block of its own: rows of a process grid in boxes of a torus.
//
// Where ranks are a power of two and phases are of two kinds, exchanges by bits among the ranks of a group and phases that exchange
// these bits with others of the rank (a transposition: (r, c) sends to (c, r)), a map is two questions that do not touch each other:
//   between  which block a group stands in, and whether it is mirrored there. Every image of a bit that tells groups apart is a sum modulo 2
//            of coordinates of blocks, with all bits of a side added where the block is mirrored along it. Annealing over images.
//   within   how a group stands in its block. Ranks may be renamed by any permutation of the values of c if those of r are renamed by
//            the same: a transposition then loads the links as before. And what mirrored blocks of such a network carry is each other's
//            mirror image, so one group tells for all.
// Within a block, annealing asks for a map of which no link carries more than so much in a phase, and asks for less and less: from a map that
// is near, what is left to be done is small and definite, while a mean of powers falls by what nobody asked for.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "bits.hpp"

namespace fl::mapping {

namespace {

constexpr std::size_t starts = 24;          // between blocks, for each shape of a block
constexpr std::int64_t maps = 60;           // that a start looks at, for each bit
constexpr double warm = 0.15, cool = 0.03;  // their temperatures, in the greatest messages over the busiest links
constexpr double hot = 1, cold = 0.3;       // within a block: temperatures, in squares of messages too many
constexpr std::int64_t moves = 12'500;      // of a try, for each name
constexpr int tries = 10;

struct Groups {
  std::vector<std::size_t> inner;   // bits of a rank that tell it in its group and may be renamed
  std::vector<std::size_t> paired;  // those that a phase exchanges with them, one for each; or none
  std::vector<std::size_t> fixed;   // bits within a group that such a phase leaves as they are
  std::vector<std::size_t> outer;   // all others: they tell groups apart
};

// Where each rank sends to the one whose bits are its own in another order, and nobody else sends: what becomes of each bit.
std::optional<std::vector<std::size_t>> turned(const Pattern& pattern, std::size_t phase, std::size_t bits) {
  std::vector<std::size_t> to(bits);
  std::iota(to.begin(), to.end(), std::size_t{0});
  const auto messages = pattern.messages(phase);
  for (const Message& m : messages) {
    const auto from = static_cast<std::uint32_t>(m.from), there = static_cast<std::uint32_t>(m.to);
    if (!std::has_single_bit(from)) continue;
    if (!std::has_single_bit(there)) return {};
    to[static_cast<std::size_t>(std::countr_zero(from))] = static_cast<std::size_t>(std::countr_zero(there));
  }
  const auto goal = [&to](std::uint32_t rank) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < to.size(); ++i) sum |= (rank >> i & 1U) << to[i];
    return sum;
  };
  std::size_t away = 0;
  for (Rank r = 0; r < pattern.ranks(); ++r) away += goal(static_cast<std::uint32_t>(r)) != static_cast<std::uint32_t>(r);
  if (away != messages.size()) return {};
  for (const Message& m : messages)
    if (goal(static_cast<std::uint32_t>(m.from)) != static_cast<std::uint32_t>(m.to)) return {};
  return to;
}

std::optional<Groups> groups_of(const Pattern& pattern, std::size_t bits) {
  std::uint32_t flipped = 0;
  std::vector<std::size_t> turn(bits);
  std::iota(turn.begin(), turn.end(), std::size_t{0});
  bool turns = false;
  for (std::size_t p = 0; p < pattern.phases(); ++p) {
    if (const auto same = differing(pattern, p)) {
      flipped |= same->by;
      continue;
    }
    const auto other = turned(pattern, p, bits);
    if (!other || (turns && *other != turn)) return {};
    turn = *other;
    turns = true;
  }
  Groups groups;
  const auto inside = [flipped](std::size_t bit) { return (flipped >> bit & 1U) != 0; };
  for (std::size_t i = 0; i < bits; ++i) {
    const std::size_t j = turn[i];
    if (turn[j] != i || (i != j && inside(i) == inside(j))) return {};
    if (!inside(i)) {
      groups.outer.push_back(i);
    } else if (i != j) {
      groups.inner.push_back(i);
      groups.paired.push_back(j);
    } else {
      (turns ? groups.fixed : groups.inner).push_back(i);
    }
  }
  if (groups.inner.size() < 2) return {};
  return groups;
}

std::uint32_t gathered(std::uint32_t rank, const std::vector<std::size_t>& bits) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bits.size(); ++i) value |= (rank >> bits[i] & 1U) << i;
  return value;
}
std::uint32_t spread(std::uint32_t value, const std::vector<std::size_t>& bits) {
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < bits.size(); ++i) rank |= (value >> i & 1U) << bits[i];
  return rank;
}

// Of a slot's number, bits by axis: `inside` of them within a block, the others tell blocks apart.
struct Shape {
  std::vector<std::vector<std::size_t>> inside, outside;
  std::size_t around = 0;  // sum of the sides
};

// All boxes with 2^bits slots whose sides have the least sum.
std::vector<Shape> shapes(const Line& line, std::size_t bits) {
  std::vector<Shape> all{{}};
  std::vector<std::size_t> held{0};  // bits within a block so far
  std::size_t at = 0;
  for (const Node axis : line.axes) {
    if (!std::has_single_bit(static_cast<std::uint32_t>(axis))) return {};
    const std::size_t length = static_cast<std::size_t>(std::bit_width(static_cast<std::uint32_t>(axis))) - 1;
    std::vector<Shape> longer;
    std::vector<std::size_t> hold;
    for (std::size_t s = 0; s < all.size(); ++s)
      for (std::size_t in = 0; in <= length && held[s] + in <= bits; ++in) {
        Shape next = all[s];
        next.inside.emplace_back();
        next.outside.emplace_back();
        for (std::size_t i = 0; i < length; ++i) (i < in ? next.inside : next.outside).back().push_back(at + i);
        next.around += std::size_t{1} << in;
        longer.push_back(std::move(next));
        hold.push_back(held[s] + in);
      }
    all = std::move(longer);
    held = std::move(hold);
    at += length;
  }
  std::size_t least = ~std::size_t{0};
  for (std::size_t s = 0; s < all.size(); ++s)
    if (held[s] == bits) least = std::min(least, all[s].around);
  std::vector<Shape> best;
  for (std::size_t s = 0; s < all.size(); ++s)
    if (held[s] == bits && all[s].around == least) best.push_back(std::move(all[s]));
  return best;
}

// The best images for a shape: those of bits within groups lie within a block, bit by bit.
Walked between(Bits& bits, const Groups& groups, const Shape& shape, const Places& places, Random& random, const Stop& stop, bool& cut,
               std::int64_t work) {
  std::vector<std::uint32_t> fine, coarse, mirrors;
  for (const auto& axis : shape.inside) {
    std::uint32_t all = 0;
    for (const std::size_t b : axis) {
      fine.push_back(1U << b);
      all |= 1U << b;
    }
    if (all != 0) mirrors.push_back(all);
  }
  for (const auto& axis : shape.outside)
    for (const std::size_t b : axis) coarse.push_back(1U << b);
  // what is never renamed keeps its partner beside it: it takes the first bits of the longest side
  const auto longest = std::max_element(shape.inside.begin(), shape.inside.end(), [](auto& a, auto& b) { return a.size() < b.size(); });
  if (!longest->empty()) std::rotate(fine.begin(), std::find(fine.begin(), fine.end(), 1U << longest->front()), fine.end());
  const auto first = [&](Random& chance) {
    Images images(groups.inner.size() + groups.fixed.size() + groups.outer.size());
    std::size_t at = 0;
    for (const std::size_t b : groups.fixed) images[b] = fine[at++];
    for (const std::size_t b : groups.inner) images[b] = fine[at++];
    chance.shuffle(coarse);
    for (std::size_t i = 0; i < coarse.size(); ++i) images[groups.outer[i]] = coarse[i];
    return images;
  };
  const auto next = [&](Images images, Random& chance) {
    const std::size_t count = groups.outer.size(), i = chance.below(count), kind = chance.below(count < 2 ? 1 : 3);
    std::uint32_t& one = images[groups.outer[i]];
    if (kind == 0) {
      one ^= mirrors[chance.below(mirrors.size())];
    } else {
      std::uint32_t& other = images[groups.outer[(i + 1 + chance.below(count - 1)) % count]];
      if (kind == 1)
        std::swap(one, other);
      else
        one ^= other;
    }
    return images;
  };
  return walked(
      bits,
      {starts, maps * static_cast<std::int64_t>(groups.inner.size() + groups.fixed.size() + groups.outer.size()), warm, cool, first, next},
      places, random, stop, cut, work);
}

// One group in its block: names of its ranks (values of the bits that may be renamed) at places, and by how much links carry too much.
class Group {
 public:
  Group(const Pattern& pattern, const Places& places, const Line& line, const Groups& groups, const Images& images)
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

  // Less and less for the busiest links, at first in large steps, until several tries fail. What it says is a permutation of the names.
  std::vector<std::uint32_t> lowered(Random& random, const Stop& stop, bool& cut) {
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

 private:
  struct Phase {
    std::uint32_t name, kind;  // by which partners differ
    Bytes bytes;
    std::vector<Bytes> loads;
    Bytes limit;  // of a link
    Bytes most() const { return *std::max_element(loads.begin(), loads.end()); }
    Bytes room() const { return limit - bytes; }  // a message is on some link
  };
  // Phases in which the same partners meet load the same links: they are one.
  void add(std::uint32_t name, std::uint32_t kind, Bytes bytes, std::size_t links) {
    const auto same = std::find_if(phases_.begin(), phases_.end(), [=](const Phase& p) { return p.name == name && p.kind == kind; });
    if (same != phases_.end())
      same->bytes += bytes;
    else
      phases_.push_back({name, kind, bytes, std::vector<Bytes>(links, 0), 0});
  }
  // Messages from one name to another, of all kinds.
  void put(Phase& phase, std::uint32_t name, std::uint32_t other, int sign) {
    for (std::uint32_t k = 0; k < kinds_; ++k) {
      load(phase, at_[name] + names_ * k, at_[other] + names_ * (k ^ phase.kind), sign);
    }
  }
  void load(Phase& phase, std::uint32_t from, std::uint32_t to, int sign) {
    const std::size_t way = std::size_t{from} * names_ * kinds_ + to;
    for (std::size_t i = begins_[way]; i < begins_[way + 1]; ++i) {
      Bytes& of = phase.loads[ways_[i]];
      const Bytes was = std::max<Bytes>(0, of - phase.limit);
      of += sign * phase.bytes;
      const Bytes is = std::max<Bytes>(0, of - phase.limit);
      if (was != is) excess_ += squared(is) - squared(was);
    }
  }
  double squared(Bytes bytes) const {
    const double x = static_cast<double>(bytes) / unit_;
    return x * x;
  }
  void exchange(std::uint32_t a, std::uint32_t b) {
    place(a, b, -1);
    std::swap(at_[a], at_[b]);
    place(a, b, 1);
  }
  // All messages of two names, those between them once.
  void place(std::uint32_t a, std::uint32_t b, int sign) {
    for (Phase& p : phases_) {
      const std::uint32_t far = a ^ p.name, near = b ^ p.name;
      put(p, a, far, sign);
      if (p.name == 0) {
        put(p, b, b, sign);
      } else if (far == b) {
        put(p, b, a, sign);
      } else {
        put(p, far, a, sign);
        put(p, b, near, sign);
        put(p, near, b, sign);
      }
    }
  }
  // Another order of all names: tries from where one failed fail alike.
  void anew(Random& random) {
    random.shuffle(at_);
    for (Phase& p : phases_) std::fill(p.loads.begin(), p.loads.end(), 0);
    all_messages();
  }
  void all_messages() {
    for (std::uint32_t name = 0; name < names_; ++name)
      for (Phase& p : phases_) put(p, name, name ^ p.name, 1);
  }
  // Annealing until no link carries more than the limit of its phase.
  bool reached(Random& random, const Stop& stop, bool& cut) {
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

  static constexpr double least = 1e-6;  // below it, only what was rounded away is left
  std::uint32_t names_, kinds_;
  std::vector<std::uint32_t> at_;  // the place of each name
  std::vector<std::size_t> begins_;
  std::vector<std::uint32_t> ways_;  // links between each two places, from begins_[from * places + to]
  std::vector<Phase> phases_;
  double unit_ = 1, excess_ = 0;
};

}  // namespace

Found blocks(const Pattern& pattern, const Places& places, const Line& line, Loads& loads, std::uint64_t seed, const Stop& stop, bool& cut,
             std::int64_t work) {
  const std::size_t ranks = line.slots.size();
  if (!std::has_single_bit(ranks) || line.axes.empty()) return {};
  const auto groups = groups_of(pattern, static_cast<std::size_t>(std::bit_width(ranks)) - 1);
  if (!groups || groups->outer.empty()) return {};
  Random random(seed);
  Bits bits(pattern, places, line);
  Walked best;
  const std::vector<Shape> some = shapes(line, groups->inner.size() + groups->fixed.size());
  for (const Shape& shape : some) {
    Walked one = between(bits, *groups, shape, places, random, stop, cut, work / static_cast<std::int64_t>(some.size()));
    if (!one.images.empty() && (best.images.empty() || score(one.cost, places) < score(best.cost, places))) best = std::move(one);
  }
  if (best.images.empty()) return {};
  const std::vector<std::uint32_t> names = Group(pattern, places, line, *groups, best.images).lowered(random, stop, cut);
  Found found{Map(ranks), {}, "blocks of groups, " + line.name};
  for (std::uint32_t r = 0; r < ranks; ++r) {
    std::uint32_t renamed = r;
    for (const auto* part : {&groups->inner, &groups->paired})
      if (!part->empty()) renamed = (renamed & ~spread(~0U, *part)) | spread(names[gathered(r, *part)], *part);
    found.map[r] = line.slots[image(best.images, renamed)];
  }
  loads.place(found.map);
  found.cost = loads.cost();
  return found;
}

}  // namespace fl::mapping
