#include "symmetry.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "program_check.hpp"

namespace fl::collectives {

namespace {

// So many chunks are compared before ranks are sampled, and so many ranks are then.
constexpr std::int64_t all_compared = 1 << 24;
constexpr std::int64_t sample = 48;
constexpr int messages_sampled = 4;

using Pairs = std::vector<std::pair<Chunk, Chunk>>;

// Lists the chunks of an operation in the order of its message; those of a copy with their sources. Chunks of scratch have a negative sign.
void list(const Operation& o, const Translation& t, Rank by, Pairs& out) {
  auto place = [&](const Range& r, std::int32_t k, Chunk i) {
    return r.space == Space::scratch ? -1 - r.chunk(k, i) : t.chunk(r.chunk(k, i), by);
  };
  for (std::int32_t k = 0; k < o.range.segments; ++k)
    for (Chunk i = 0; i < o.range.count; ++i) out.emplace_back(place(o.range, k, i), o.kind == Kind::copy ? place(o.source, k, i) : 0);
}

std::int64_t size(const Program& program) {
  std::int64_t sum = 0;
  for (const Operation& o : program.operations()) sum += 8 + (o.kind == Kind::compute ? 0 : o.range.count * o.range.segments);
  return sum;
}

class Comparison {
 public:
  Comparison(const Schedule& schedule, const Translation& translation) : schedule_(schedule), translation_(translation) {
    const Collective c = schedule.collective;
    placed_ = c == Collective::allgather || c == Collective::alltoall || c == Collective::reduce_scatter;
    schedule.program(0, zero_);
  }
  std::int64_t cost() const { return size(zero_); }
  std::string difference(Rank rank, std::mt19937_64& random);

 private:
  bool alike(const Operation& a, const Operation& b, Rank by) const;
  bool same_chunks(std::size_t index, Rank by);
  bool same_order(std::size_t index, Rank rank);

  const Schedule& schedule_;
  const Translation& translation_;
  bool placed_;
  Program zero_, other_, peer_;
  Pairs mine_, theirs_;
  std::vector<std::size_t> permuted_;  // messages with the chunks of rank 0's in another order
};

bool Comparison::alike(const Operation& a, const Operation& b, Rank by) const {
  const bool message = a.kind != Kind::copy && a.kind != Kind::compute;
  if (a.kind != b.kind || a.tag != b.tag || a.round != b.round || a.range.segments != b.range.segments || a.range.space != b.range.space)
    return false;
  if (message && (b.peer != translation_.to(a.peer, by) || a.range.count != b.range.count)) return false;
  return std::ranges::equal(zero_.after(a), other_.after(b));
}

// Copies that follow each other are taken together: what is one range for a rank may be two for another.
bool Comparison::same_chunks(std::size_t index, Rank by) {
  const auto a = zero_.operations(), b = other_.operations();
  const bool copies = a[index].kind == Kind::copy;
  if (copies && index > 0 && a[index - 1].kind == Kind::copy) return true;
  mine_.clear();
  theirs_.clear();
  for (std::size_t i = index; i < a.size() && (i == index || (copies && a[i].kind == Kind::copy)); ++i) {
    list(a[i], translation_, by, mine_);
    list(b[i], translation_, 0, theirs_);
  }
  if (mine_ == theirs_) return true;
  if (!copies) permuted_.push_back(index);
  std::ranges::sort(mine_);
  std::ranges::sort(theirs_);
  return mine_ == theirs_;
}

// Whether both ends of a message list its chunks, the same ones in place, in one order.
bool Comparison::same_order(std::size_t index, Rank rank) {
  const Operation& o = other_.operations()[index];
  int before = 0;
  for (std::size_t i = 0; i < index; ++i) {
    const Operation& p = other_.operations()[i];
    if (p.peer == o.peer && p.tag == o.tag && (p.kind == Kind::send) == (o.kind == Kind::send)) before += p.range.segments;
  }
  peer_.clear();
  schedule_.program(o.peer, peer_);
  for (const Operation& p : peer_.operations()) {
    if (p.peer != rank || p.tag != o.tag || (p.kind == Kind::send) == (o.kind == Kind::send)) continue;
    if (p.kind == Kind::copy || p.kind == Kind::compute || (before -= p.range.segments) >= 0) continue;
    mine_.clear();
    theirs_.clear();
    list(o, translation_, 0, mine_);
    list(p, translation_, 0, theirs_);
    return mine_ == theirs_;
  }
  return false;
}

std::string Comparison::difference(Rank rank, std::mt19937_64& random) {
  other_.clear();
  schedule_.program(rank, other_);
  if (other_.operations().size() != zero_.operations().size()) return "rank " + std::to_string(rank) + " has other operations than rank 0";
  permuted_.clear();
  for (std::size_t i = 0; i < zero_.operations().size(); ++i) {
    const Operation &a = zero_.operations()[i], &b = other_.operations()[i];
    if (!alike(a, b, rank) || (placed_ && a.kind != Kind::compute && !same_chunks(i, rank)))
      return describe(rank, static_cast<Op>(i), b) + " is not that of rank 0, moved along";
  }
  for (int m = 0; m < messages_sampled && !permuted_.empty(); ++m)
    if (const std::size_t i = permuted_[random() % permuted_.size()]; !same_order(i, rank))
      return describe(rank, static_cast<Op>(i), other_.operations()[i]) + " and its partner differ in the order of chunks";
  return "";
}

}  // namespace

Translation::Translation(const Schedule& s)
    : symmetry_(s.symmetry), ranks_(s.ranks), block_(s.chunks % s.ranks == 0 ? s.chunks / s.ranks : 0), shape_(s.shape) {}

Rank Translation::moved(Rank rank, Rank by, Rank sign) const {
  auto around = [&](std::int64_t at, Rank extent) { return static_cast<Rank>(((at % extent) + extent) % extent); };
  switch (symmetry_) {
    case Symmetry::none:
      return rank;
    case Symmetry::exclusive:
      return rank ^ by;
    case Symmetry::cyclic:
      return around(rank + std::int64_t{sign} * by, ranks_);
    case Symmetry::torus:
      break;
  }
  Rank result = 0, stride = 1;
  for (const Rank extent : shape_) {
    result += stride * around(rank / stride % extent + sign * (by / stride % extent), extent);
    stride *= extent;
  }
  return result;
}

std::string broken_symmetry(const Schedule& s, const Translation& translation) {
  const auto power = static_cast<std::uint32_t>(s.ranks);
  if (s.symmetry == Symmetry::exclusive && (power & (power - 1)) != 0) return "a symmetry by exclusive or needs a power of two";
  std::int64_t product = 1;
  for (const Rank extent : s.shape) product *= extent;
  if (s.symmetry == Symmetry::torus && product != s.ranks) return "the symmetry of a torus without its shape";
  Comparison comparison(s, translation);
  std::mt19937_64 random(20221);
  const bool all = comparison.cost() * s.ranks <= all_compared;
  const std::int64_t many = all ? s.ranks : std::min<std::int64_t>(s.ranks, sample);
  for (std::int64_t i = 1; i < many; ++i) {
    const std::int64_t rank = all ? i : i == 1 ? 1 : i == 2 ? s.ranks - 1 : static_cast<std::int64_t>(random() % power);
    if (std::string why = comparison.difference(static_cast<Rank>(rank), random); !why.empty()) return why;
  }
  return "";
}

}  // namespace fl::collectives
