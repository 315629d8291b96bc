// Maps of groups that are alike, each in a block of its own: rows of a process grid in boxes of a torus.
//
// Where ranks are a power of two and phases are of two kinds, exchanges by bits among the ranks of a group and phases that exchange
// these bits with others of the rank (a transposition: (r, c) sends to (c, r)), a map is two questions that do not touch each other:
//   between  which block a group is in, and whether it is mirrored there. Every image of a bit that selects a group is a sum modulo 2
//            of coordinates of blocks, with all bits of a side added where the block is mirrored along it. Annealing over images.
//   within   how a group is in its block. Ranks may be renamed by any permutation of the values of c if those of r are renamed by
//            the same: a transposition then loads the links as before. And what mirrored blocks of such a network carry is each other's
//            mirror image, so one group represents all.
#include <algorithm>
#include <numeric>

#include "group.hpp"

namespace fl::mapping {

namespace {

constexpr std::size_t starts = 24;          // between blocks, for each shape of a block
constexpr std::int64_t maps = 60;           // that a start looks at, for each bit
constexpr double warm = 0.15, cool = 0.03;  // their temperatures, in the greatest messages over the busiest links

// Where each rank sends to the one whose bits are its own in another order, and no other rank sends: what becomes of each bit.
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

// Bits of a slot's number, by axis. The bits in `inside` select a slot within a block, the bits in `outside` select the block.
struct Shape {
  std::vector<std::vector<std::size_t>> inside, outside;
  std::size_t around = 0;  // sum of the sides
};

// All boxes with 2^bits slots whose sides have the least sum.
std::vector<Shape> shapes(const Line& line, std::size_t bits) {
  std::vector<Shape> all{{}};
  std::vector<std::size_t> bits_inside{0};  // bits within a block so far
  std::size_t at = 0;
  for (const Node axis : line.axes) {
    if (!std::has_single_bit(static_cast<std::uint32_t>(axis))) return {};
    const std::size_t length = static_cast<std::size_t>(std::bit_width(static_cast<std::uint32_t>(axis))) - 1;
    std::vector<Shape> longer;
    std::vector<std::size_t> longer_bits;
    for (std::size_t s = 0; s < all.size(); ++s)
      for (std::size_t in = 0; in <= length && bits_inside[s] + in <= bits; ++in) {
        Shape next = all[s];
        next.inside.emplace_back();
        next.outside.emplace_back();
        for (std::size_t i = 0; i < length; ++i) (i < in ? next.inside : next.outside).back().push_back(at + i);
        next.around += std::size_t{1} << in;
        longer.push_back(std::move(next));
        longer_bits.push_back(bits_inside[s] + in);
      }
    all = std::move(longer);
    bits_inside = std::move(longer_bits);
    at += length;
  }
  std::size_t least = ~std::size_t{0};
  for (std::size_t s = 0; s < all.size(); ++s)
    if (bits_inside[s] == bits) least = std::min(least, all[s].around);
  std::vector<Shape> best;
  for (std::size_t s = 0; s < all.size(); ++s)
    if (bits_inside[s] == bits && all[s].around == least) best.push_back(std::move(all[s]));
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
  // what is never renamed keeps its partner next to it: it has the first bits of the longest side
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
