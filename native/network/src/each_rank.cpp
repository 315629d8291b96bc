// Max-plus for ranks of one program and with their own clocks, as with noise: an operation of the program is evaluated for all ranks
// at once. Its times are a column, one number a rank, and a message is a column moved along, so that arrays are added and nothing is
// searched. For networks without links, and schedules without trains.
#include <algorithm>
#include <memory>

#include "firstlight/network/evaluate.hpp"

namespace fl::network {

namespace {

using collectives::Kind;
using collectives::Rank;
using collectives::Schedule;
using collectives::Symmetry;

using Column = std::span<double>;
constexpr std::size_t apart = 8;  // columns of 2^k ranks would be in the same lines of a cache

// Calls run(to, from, count) for stretches of ranks whose partners, `peer` as seen from rank 0, follow one another as they do.
template <class Run>
void along(const Schedule& s, Rank peer, Run run) {
  if (s.symmetry == Symmetry::exclusive) {
    const Rank step = peer == 0 ? s.ranks : peer & -peer;
    for (Rank at = 0; at < s.ranks; at += step) run(at, at ^ peer, step);
    return;
  }
  run(0, peer, s.ranks - peer);
  if (peer > 0) run(s.ranks - peer, 0, peer);
}

class EachRank {
 public:
  EachRank(const Schedule& schedule, const Plan& plan, const Machine& machine, const Interruptions& noise)
      : schedule_(schedule),
        plan_(plan),
        machine_(machine),
        noise_(noise),
        ranks_(static_cast<std::size_t>(schedule.ranks)),
        times_(std::make_unique_for_overwrite<double[]>((2 * plan.steps().size() + 1) * (ranks_ + apart))) {}

  Time run() {
    std::vector<double> latest(ranks_, 0);
    for (const Index i : plan_.order()) {
      step(i, plan_.steps()[i]);
      for (std::size_t r = 0; r < ranks_; ++r) latest[r] = std::max(latest[r], ended(i)[r]);
    }
    return {std::ranges::max(latest), plan_.operations(), !noise_.present() && undisturbed()};
  }

 private:
  Column column(std::size_t k) const { return {&times_[k * (ranks_ + apart)], ranks_}; }
  Column begun(Index i) const { return column(2 * std::size_t{i}); }
  Column ended(Index i) const { return column(2 * std::size_t{i} + 1); }
  void step(Index i, const Step& s);
  void gather(const Step& s, Column ready) const;
  void arrive(const Step& s, double more, Column begin) const;
  // When the processors are done with what they turn to.
  void work(double needed, Column begin, Column end) const {
    if (noise_.present())
      for (std::size_t r = 0; r < ranks_; ++r) end[r] = noise_.done(static_cast<Rank>(r), begin[r], needed);
    else
      for (std::size_t r = 0; r < ranks_; ++r) end[r] = begin[r] + needed;
  }
  bool undisturbed() const;
  bool undisturbed(std::size_t rank, std::span<const double> gaps, std::vector<Index>& order) const;

  const Schedule& schedule_;
  const Plan& plan_;
  const Machine& machine_;
  const Interruptions& noise_;
  std::size_t ranks_;
  std::unique_ptr<double[]> times_;  // begin and end of each step, and a column more
};

// When the ranks may begin, as far as they themselves are concerned.
void EachRank::gather(const Step& s, Column ready) const {
  std::ranges::fill(ready, 0.0);
  for (const Wait& w : plan_.waits(s)) {
    const bool started = w.started && plan_.steps()[w.on].kind != Kind::receive;
    const Column times = started ? begun(w.on) : ended(w.on);
    for (std::size_t r = 0; r < ranks_; ++r) ready[r] = std::max(ready[r], times[r]);
  }
}

void EachRank::arrive(const Step& s, double sooner, Column begin) const {
  const double later = machine_.L;
  along(schedule_, s.peer, [&, sent = ended(s.match)](Rank to, Rank from, Rank count) {
    for (std::size_t r = 0; r < static_cast<std::size_t>(count); ++r)
      begin[static_cast<std::size_t>(to) + r] = std::max(sent[static_cast<std::size_t>(from) + r] - sooner + later, 0.0);
  });
}

void EachRank::step(Index i, const Step& s) {
  const Column begin = begun(i), end = ended(i);
  const Machine::Cost cost = machine_.cost(s.bytes);
  if (s.kind == Kind::receive) {
    const Column ready = column(2 * plan_.steps().size());
    gather(s, ready);
    arrive(s, cost.body, begin);
    work(cost.receive, begin, end);
    for (std::size_t r = 0; r < ranks_; ++r) end[r] = std::max(end[r], ready[r]);
    return;
  }
  gather(s, begin);
  const double local = s.kind == Kind::compute ? s.bytes : s.bytes * (s.kind == Kind::copy ? machine_.copy : machine_.reduce);
  work(s.kind == Kind::send ? cost.send : local, begin, end);
}

// Whether no two operations of a rank wanted its processor at once, nor its interface: then queues have nothing to do. Mostly the
// ranks turn to their operations in the same order.
bool EachRank::undisturbed() const {
  std::vector<double> gaps;  // how long a message keeps an interface
  for (const Step& s : plan_.steps()) {
    const bool message = s.kind == Kind::send || s.kind == Kind::receive;
    if ((message && loggops_bytes(s.bytes) > machine_.S) || s.cpu != 0 || s.nic != 0) return false;
    for (const Wait& w : plan_.waits(s))
      if (w.started && plan_.steps()[w.on].kind != Kind::send) return false;
    gaps.push_back(machine_.cost(s.bytes).gap);
  }
  std::vector<Index> order(plan_.steps().size());
  for (Index i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t r = 0; r < ranks_; ++r)
    if (!undisturbed(r, gaps, order)) return false;
  return true;
}

bool EachRank::undisturbed(std::size_t rank, std::span<const double> gaps, std::vector<Index>& order) const {
  const auto when = [&](Index i) { return std::pair(begun(i)[rank], ended(i)[rank]); };
  if (!std::ranges::is_sorted(order, {}, when)) std::ranges::sort(order, {}, when);
  double processor = 0, sending = 0, receiving = 0;
  for (const Index i : order) {
    const Kind kind = plan_.steps()[i].kind;
    double none = 0;
    double& interface = kind == Kind::send ? sending : kind == Kind::receive ? receiving : none;
    const auto [begin, end] = when(i);
    if (begin < processor || begin < interface) return false;
    processor = end;
    interface = begin + gaps[i];
  }
  return true;
}

}  // namespace

Time each_rank(const Schedule& schedule, const Plan& plan, const Machine& machine, const Interruptions& noise) {
  return EachRank(schedule, plan, machine, noise).run();
}

}  // namespace fl::network
