// A group of ranks in its block, as every other: which of them is where.
#pragma once

#include <algorithm>

#include "bits.hpp"

namespace fl::mapping {

// Which bits of a rank select a group and which a member of it.
struct Groups {
  std::vector<std::size_t> inner;   // bits of a rank that select it in its group and may be renamed
  std::vector<std::size_t> paired;  // those that a phase exchanges with them, one for each; or none
  std::vector<std::size_t> fixed;   // bits within a group that such a phase leaves as they are
  std::vector<std::size_t> outer;   // all others: they distinguish groups
};

// The bits of a rank that are listed, as one number, and back.
inline std::uint32_t gathered(std::uint32_t rank, const std::vector<std::size_t>& bits) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bits.size(); ++i) value |= (rank >> bits[i] & 1U) << i;
  return value;
}
inline std::uint32_t spread(std::uint32_t value, const std::vector<std::size_t>& bits) {
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < bits.size(); ++i) rank |= (value >> i & 1U) << bits[i];
  return rank;
}

// One group in its block: names of its ranks (values of the bits that may be renamed) at places, and by how much links carry too much.
class Group {
 public:
  Group(const Pattern& pattern, const Places& places, const Line& line, const Groups& groups, const Images& images);
  // Less and less for the busiest links, at first in large steps, until several tries fail. The result is a permutation of the names.
  std::vector<std::uint32_t> lowered(Random& random, const Stop& stop, bool& cut);

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
  bool reached(Random& random, const Stop& stop, bool& cut);

  std::uint32_t names_, kinds_;
  std::vector<std::uint32_t> at_;  // the place of each name
  std::vector<std::size_t> begins_;
  std::vector<std::uint32_t> ways_;  // links between each two places, from begins_[from * places + to]
  std::vector<Phase> phases_;
  double unit_ = 1, excess_ = 0;
};

}  // namespace fl::mapping
