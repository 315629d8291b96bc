// Max-plus: one pass in topological order. Of each train the times at which its segments are complete are kept only until everything
// that waits for them has been seen, so memory follows the front of the schedule and not its length. Without trains all times are kept.
#include <algorithm>
#include <cmath>
#include <limits>

#include "firstlight/network/evaluate.hpp"

namespace fl::network {

namespace {

using collectives::Kind;

constexpr Index nowhere = std::numeric_limits<Index>::max();

class MaxPlus {
 public:
  MaxPlus(const Plan& plan, const Topology& topology, const Machine& machine, const Interruptions& noise)
      : plan_(plan), topology_(topology), machine_(machine), noise_(noise), linked_(topology.links() > 0) {
    for (const Step& s : plan.steps()) width_ = std::max(width_, static_cast<std::size_t>(s.segments));
    keep_ = !linked_ && !plan.trains();
    if (keep_) begun_.resize(plan.steps().size());
    if (plan.trains()) {
      slot_.resize(plan.steps().size(), nowhere);
      readers_.resize(plan.steps().size());
    } else {
      pool_.resize(plan.steps().size());
    }
    ready_.resize(width_);
  }

  Time run() {
    constexpr std::size_t ahead = 12;
    const auto order = plan_.order();
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (k + ahead < order.size()) __builtin_prefetch(&plan_.steps()[order[k + ahead]]);
      step(order[k]);
    }
    return {latest_, plan_.operations(), keep_ && undisturbed()};
  }

 private:
  double* times(Index i) { return &pool_[plan_.trains() ? slot_[i] * width_ : i]; }
  Index take() {
    if (free_.empty()) {
      pool_.resize(pool_.size() + width_);
      return slots_++;
    }
    const Index slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void read(Index i) {
    if (plan_.trains() && --readers_[i] == 0) free_.push_back(slot_[i]);
  }
  // When the segments of a step may begin, as far as others are concerned.
  void gather(const Step& s) {
    std::fill_n(ready_.begin(), s.segments, 0.0);
    for (const Wait& w : plan_.waits(s)) {
      const Step& on = plan_.steps()[w.on];
      const double* done = times(w.on);
      const auto k = static_cast<std::size_t>(s.segments);
      if (w.started && on.kind != Kind::receive) {
        for (std::size_t j = 0; j < k; ++j) {
          const std::size_t last = on.segments == s.segments ? j : static_cast<std::size_t>(on.segments) - 1;
          ready_[j] = std::max(ready_[j], keep_ ? begun_[w.on] : done[last] - duration(on));
        }
        read(w.on);
        continue;
      }
      if (on.segments == s.segments) {
        for (std::size_t j = 0; j < k; ++j) ready_[j] = std::max(ready_[j], done[j]);
      } else {
        for (std::size_t j = 0; j < k; ++j) ready_[j] = std::max(ready_[j], done[on.segments - 1]);
      }
      read(w.on);
    }
  }
  // Returns the time of a local operation on a segment, without noise.
  double work(const Step& s) const {
    return s.kind == Kind::compute ? s.bytes : s.bytes * (s.kind == Kind::copy ? machine_.copy : machine_.reduce);
  }
  // Returns the time of a segment from its begin to its end, without noise.
  double duration(const Step& s) const {
    if (s.kind != Kind::send) return work(s);
    if (linked_) return machine_.overhead + machine_.stream(s.bytes);
    return machine_.cost(s.bytes).send;
  }
  void step(Index i);
  double send(const Step& s, double* out);
  double receive(const Step& s, const double* sent, double* out);
  double local(const Step& s, double* out);
  bool undisturbed() const;

  const Plan& plan_;
  const Topology& topology_;
  const Machine& machine_;
  const Interruptions& noise_;
  bool linked_, keep_ = false;
  std::size_t width_ = 1;
  std::vector<double> pool_, ready_;
  std::vector<Index> free_, slot_, readers_;
  Index slots_ = 0;
  std::vector<double> begun_;  // the processor, if keep_
  std::vector<Link> way_;
  double latest_ = 0;
};

void MaxPlus::step(Index i) {
  const Step& s = plan_.steps()[i];
  gather(s);
  if (plan_.trains()) {
    readers_[i] = s.frees_end - s.frees + (s.kind == Kind::send ? 1 : 0);
    slot_[i] = take();
  }
  double* out = times(i);
  const double begin = s.kind == Kind::send ? send(s, out) : s.kind == Kind::receive ? receive(s, times(s.match), out) : local(s, out);
  latest_ = std::max(latest_, out[s.segments - 1]);
  if (keep_) begun_[i] = begin;
  if (s.kind == Kind::receive) read(s.match);
  if (plan_.trains() && readers_[i] == 0) free_.push_back(slot_[i]);
}

// Times at which the sender is done; returns when it began.
double MaxPlus::send(const Step& s, double* out) {
  const auto segments = static_cast<std::size_t>(s.segments);
  double free = 0, begin = 0;
  if (linked_) {
    const double stream = machine_.stream(s.bytes), gap = machine_.overhead + stream;
    for (std::size_t k = 0; k < segments; ++k) {
      begin = std::max(ready_[k], free);
      free = out[k] = noise_.present() ? noise_.done(s.rank, begin, machine_.overhead) + stream : begin + gap;
    }
    return begin;
  }
  const Machine::Cost cost = machine_.cost(s.bytes);
  for (std::size_t k = 0; k < segments; ++k) {
    begin = std::max(ready_[k], free);
    out[k] = noise_.done(s.rank, begin, cost.send);
    free = std::max(out[k], begin + cost.gap);
  }
  return begin;
}

double MaxPlus::receive(const Step& s, const double* sent, double* out) {
  const auto segments = static_cast<std::size_t>(s.segments);
  if (linked_) {
    const Step& from = plan_.steps()[s.match];
    route(from, topology_, way_);
    const double travel = static_cast<double>(way_.size()) * machine_.hop;
    for (std::size_t k = 0; k < segments; ++k) out[k] = std::max(sent[k] + travel, ready_[k]);
    return 0;
  }
  const Machine::Cost cost = machine_.cost(s.bytes);
  double free = 0, begin = 0;
  for (std::size_t k = 0; k < segments; ++k) {
    begin = std::max(sent[k] - cost.body + machine_.L, free);
    free = noise_.done(s.rank, begin, cost.receive);
    out[k] = std::max(free, ready_[k]);
  }
  return begin;
}

double MaxPlus::local(const Step& s, double* out) {
  const double needed = work(s);
  double free = 0, begin = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(s.segments); ++k) {
    begin = std::max(ready_[k], free);
    free = out[k] = noise_.done(s.rank, begin, needed);
  }
  return begin;
}

// Whether no two operations of a rank wanted its processor at once, nor its interface: then queues have nothing to do.
bool MaxPlus::undisturbed() const {
  struct Use {
    double begin, end, gap;
    Kind kind;
  };
  std::vector<Use> uses;
  for (std::int32_t rank = 0; rank < plan_.ranks(); ++rank) {
    uses.clear();
    for (Index i = plan_.first(rank); i < plan_.first(rank + 1); ++i) {
      const Step& s = plan_.steps()[i];
      const bool message = s.kind == Kind::send || s.kind == Kind::receive;
      if ((message && loggops_bytes(s.bytes) > machine_.S) || s.cpu != 0 || s.nic != 0) return false;
      for (const Wait& w : plan_.waits(s))
        if (w.started && plan_.steps()[w.on].kind != Kind::send) return false;
      uses.push_back({begun_[i], pool_[i], message ? begun_[i] + machine_.cost(s.bytes).gap : 0, s.kind});
    }
    std::ranges::sort(uses, {}, [](const Use& u) { return std::pair(u.begin, u.end); });
    double processor = 0, sending = 0, receiving = 0;
    for (const Use& u : uses) {
      double none = 0;
      double& interface = u.kind == Kind::send ? sending : u.kind == Kind::receive ? receiving : none;
      if (u.begin < processor || u.begin < interface) return false;
      processor = u.end;
      interface = u.gap;
    }
  }
  return true;
}

}  // namespace

Time max_plus(const Plan& plan, const Topology& topology, const Machine& machine, const Interruptions& noise) {
  return MaxPlus(plan, topology, machine, noise).run();
}

}  // namespace fl::network
