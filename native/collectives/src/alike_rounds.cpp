#include "alike_rounds.hpp"

#include <algorithm>

namespace fl::collectives {

namespace {

constexpr std::int64_t all_compared = 1 << 22;  // rounds of ranks
constexpr Rank sample = 16;

using Receipts = std::vector<Rounds::Receipt>;

// What the program of a rank receives in each of its rounds, each of them sorted.
std::vector<Receipts> received(const Program& program) {
  std::vector<Receipts> in;
  for (const Operation& o : program.operations()) {
    if (o.kind != Kind::receive && o.kind != Kind::combine) continue;
    const auto round = static_cast<std::size_t>(o.round);
    if (in.size() <= round) in.resize(round + 1);
    in[round].push_back({o.peer, o.range.count, o.kind == Kind::combine});
  }
  for (Receipts& r : in) std::ranges::sort(r);
  return in;
}

bool trains(const Program& program) {
  return std::ranges::any_of(program.operations(), [](const Operation& o) { return o.range.segments > 1; });
}

std::string difference(const Schedule& s, Rank rank) {
  Program program;
  s.program(rank, program);
  if (trains(program)) return "rank " + std::to_string(rank) + " has trains";
  const std::vector<Receipts> is = received(program);
  if (std::ssize(is) > s.rounds.begins.back()) return "rank " + std::to_string(rank) + " has more rounds";
  Receipts declared;
  std::size_t next = 0;
  for (std::int32_t round = 0; round < s.rounds.begins.back(); ++round) {
    if (round == s.rounds.begins[next]) {
      ++next;
      declared.clear();
      s.rounds.receipts(rank, round, declared);
      std::ranges::sort(declared);
    }
    const auto r = static_cast<std::size_t>(round);
    if (r < is.size() ? is[r] != declared : !declared.empty()) return "round " + std::to_string(round) + " of rank " + std::to_string(rank);
  }
  return "";
}

}  // namespace

std::string broken_rounds(const Schedule& s) {
  const std::vector<std::int32_t>& begins = s.rounds.begins;
  if (begins.empty()) return "";
  if (begins.front() != 0 || !std::ranges::is_sorted(begins) || !s.rounds.receipts || !s.missing.empty()) return "their begins";
  const std::int64_t cost = std::int64_t{s.ranks} * (begins.back() + 1);
  const Rank step = cost <= all_compared ? 1 : std::max(1, s.ranks / sample);
  for (std::int64_t rank = 0; rank < s.ranks; rank += step)
    if (std::string why = difference(s, static_cast<Rank>(rank)); !why.empty()) return why;
  return difference(s, s.ranks - 1);
}

}  // namespace fl::collectives
