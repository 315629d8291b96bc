#include "firstlight/mapping/loads.hpp"

#include <algorithm>
#include <cmath>

namespace fl::mapping {

void check(const Map& map, const Pattern& pattern, const Places& places) {
  if (map.size() != static_cast<std::size_t>(pattern.ranks())) throw Wrong("the map has another number of ranks");
  std::vector<bool> taken(static_cast<std::size_t>(places.slots()), false);
  for (const Slot s : map) {
    if (s < 0 || s >= places.slots() || !places.allowed(s)) throw Wrong("slot " + std::to_string(s) + " is not available");
    if (taken[static_cast<std::size_t>(s)]) throw Wrong("two ranks in slot " + std::to_string(s));
    taken[static_cast<std::size_t>(s)] = true;
  }
}

Map identity(const Pattern& pattern, const Places& places) {
  const auto ranks = static_cast<std::size_t>(pattern.ranks());
  if (places.open().size() < ranks)
    throw Wrong(std::to_string(ranks) + " ranks do not fit into " + std::to_string(places.open().size()) +
                " slots; use more nodes or more ranks per node");
  return {places.open().begin(), places.open().begin() + static_cast<std::ptrdiff_t>(ranks)};
}

Peaks::Peaks(std::size_t size) : size_(size) {
  std::size_t count = std::max<std::size_t>(size, 1);
  do {
    count = (count + block - 1) / block;
    levels_.emplace_back(count * block, 0);
    touched_.emplace_back(count, 0);
    waiting_.emplace_back();
  } while (count > 1);
  levels_.emplace_back(1, 0);
}

void Peaks::clear() {
  for (auto& level : levels_) std::fill(level.begin(), level.end(), 0);
  for (auto& level : touched_) std::fill(level.begin(), level.end(), 0);
  for (auto& level : waiting_) level.clear();
  powers_ = 0;
}

void Peaks::sum_powers(double unit) {
  inverse_ = 1 / unit;
  powers_ = 0;
  for (const Bytes value : values()) powers_ += eighth(value);
}

Bytes Peaks::most() {
  for (std::size_t l = 0; l + 1 < levels_.size(); ++l) {
    for (const std::size_t which : waiting_[l]) {
      touched_[l][which] = 0;
      const Bytes* const some = levels_[l].data() + which * block;
      Bytes top = 0;
      for (std::size_t i = 0; i < block; ++i) top = some[i] > top ? some[i] : top;
      Bytes& stored = levels_[l + 1][which];
      if (stored == top) continue;
      stored = top;
      if (l + 2 < levels_.size()) touch(l + 1, which / block);
    }
    waiting_[l].clear();
  }
  return levels_.back()[0];
}

std::size_t Peaks::where() {
  const Bytes top = most();
  std::size_t at = 0;
  for (std::size_t l = levels_.size() - 1; l-- > 0;) {
    const auto begin = levels_[l].begin() + static_cast<std::ptrdiff_t>(at * block);
    at = static_cast<std::size_t>(std::find(begin, begin + block, top) - levels_[l].begin());
  }
  return at;
}

Loads::Loads(const Pattern& pattern, const Places& places)
    : pattern_(pattern), places_(places), ranks_(static_cast<std::size_t>(places.slots()), -1) {
  for (std::size_t p = 0; p < pattern.phases(); ++p) peaks_.emplace_back(static_cast<std::size_t>(places.links()));
}

double Loads::memory(const Pattern& pattern, const Places& places) {
  return 8.3 * static_cast<double>(places.links()) * static_cast<double>(pattern.phases()) + 8.0 * static_cast<double>(places.slots());
}

void Loads::place(const Map& map) {
  check(map, pattern_, places_);
  map_ = map;
  std::fill(ranks_.begin(), ranks_.end(), -1);
  for (Rank r = 0; r < pattern_.ranks(); ++r) ranks_[static_cast<std::size_t>(slot(r))] = r;
  for (Peaks& p : peaks_) p.clear();
  hop_bytes_ = 0;
  noting_ = false;
  for (const Message& m : pattern_.messages()) put(m, 1);
  noting_ = true;
  changes_.clear();
  last_a_ = last_b_ = 0;
}

void Loads::put(const Message& m, int sign) {
  places_.route(slot(m.from), slot(m.to), way_);
  for (const Link l : way_) {
    const Bytes bytes = sign * places_.load(l, m.bytes);
    peaks_[static_cast<std::size_t>(m.phase)].add(static_cast<std::size_t>(l), bytes);
    hop_bytes_ += bytes;
    if (noting_) changes_.push_back({m.phase, l, bytes});
  }
}

// Messages of the ranks in both slots; one between the two only once.
void Loads::put_all(Slot a, Slot b, int sign) {
  const Rank one = rank(a), other = rank(b);
  const auto messages = pattern_.messages();
  if (one >= 0)
    for (const Index i : pattern_.of(one)) put(messages[i], sign);
  if (other >= 0)
    for (const Index i : pattern_.of(other))
      if (messages[i].from != one && messages[i].to != one) put(messages[i], sign);
}

void Loads::stand(Rank rank, Slot slot) {
  ranks_[static_cast<std::size_t>(slot)] = rank;
  if (rank >= 0) map_[static_cast<std::size_t>(rank)] = slot;
}

void Loads::exchange(Slot a, Slot b) {
  changes_.clear();
  last_a_ = a;
  last_b_ = b;
  if (a == b) return;
  put_all(a, b, -1);
  const Rank one = rank(a), other = rank(b);
  stand(one, b);
  stand(other, a);
  put_all(a, b, 1);
}

void Loads::undo() {
  for (const Change& c : changes_) {
    peaks_[static_cast<std::size_t>(c.phase)].add(static_cast<std::size_t>(c.link), -c.bytes);
    hop_bytes_ -= c.bytes;
  }
  changes_.clear();
  const Rank one = rank(last_a_), other = rank(last_b_);
  stand(one, last_b_);
  stand(other, last_a_);
}

void Loads::settle() {
  unit_ = std::max(1.0, static_cast<double>(cost().maxima) / static_cast<double>(std::max<std::size_t>(peaks_.size(), 1)));
  for (Peaks& p : peaks_) p.sum_powers(unit_);
}

double Loads::smooth() const {
  const auto links = static_cast<double>(std::max<Link>(places_.existing(), 1));
  double sum = 0;
  for (const Peaks& p : peaks_) sum += std::sqrt(std::sqrt(std::sqrt(std::max(0.0, p.powers()) / links)));
  return sum * unit_;
}

Cost Loads::cost() {
  Cost c{0, hop_bytes_};
  for (Peaks& p : peaks_) c.maxima += p.most();
  return c;
}

}  // namespace fl::mapping
