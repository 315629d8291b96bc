// Discrete events on a network with links. Whatever queues does so first come, first served, so that it is enough to know when a
// link, an interface or a processor is free again.
#include <algorithm>

#include "firstlight/network/evaluate.hpp"
#include "heap.hpp"

namespace fl::network {

namespace {

using collectives::Kind;

enum What : std::uint32_t { head, arrived, injected, worked };  // the head of a message at a link or its goal; all of it; a step's segment

struct Event {
  double time;
  std::uint32_t order;
  std::uint32_t what : 2;
  std::uint32_t which : 30;  // message or step
};

struct Message {
  Index step = 0;
  std::uint32_t hop = 0;
  std::vector<Link> way;
};

struct Progress {
  std::int32_t begun = 0, done = 0, arrived = 0;  // segments
};

class Links {
 public:
  Links(const Plan& plan, const Topology& topology, const Machine& machine, const Interruptions& noise)
      : plan_(plan), topology_(topology), machine_(machine), noise_(noise), progress_(plan.steps().size()) {
    const auto ranks = static_cast<std::size_t>(plan.ranks());
    interfaces_ = static_cast<std::size_t>(machine.interfaces);
    sending_.resize(ranks * interfaces_, 0);
    receiving_.resize(ranks * interfaces_, 0);
    processor_.resize(ranks, 0);
    links_.resize(plan.representative() ? topology.kinds().size() : static_cast<std::size_t>(topology.links()), 0);
  }

  Time run() {
    for (Index i = 0; i < plan_.steps().size(); ++i) {
      advance(i);
      follow();
    }
    Time result;
    while (!queue_.empty()) {
      const Event e = queue_.pop();
      if (!queue_.empty()) fetch(queue_.top());
      now_ = e.time;
      ++result.events;
      handle(e);
      follow();
    }
    result.nanoseconds = now_;
    return result;
  }

 private:
  void handle(const Event& e);
  void fetch(const Event& e) const {
    if (e.what == head || e.what == arrived)
      __builtin_prefetch(&messages_[e.which]);
    else
      __builtin_prefetch(&progress_[e.which]);
  }
  void move(std::uint32_t message);
  void advance(Index i);
  void inject(Index i, const Step& s);
  void complete(Index i) {
    ++progress_[i].done;
    const auto frees = plan_.frees(plan_.steps()[i]);
    next_.insert(next_.end(), frees.begin(), frees.end());
    if (plan_.steps()[i].segments > 1) next_.push_back(i);
  }
  // Steps that may go on now, in the order in which that became known.
  void follow() {
    for (std::size_t k = 0; k < next_.size(); ++k) advance(next_[k]);
    next_.clear();
  }
  bool satisfied(const Step& s, std::int32_t segment) const {
    for (const Wait& w : plan_.waits(s)) {
      const std::int32_t segments = plan_.steps()[w.on].segments, seen = w.started ? progress_[w.on].begun : progress_[w.on].done;
      if (segments == s.segments ? seen <= segment : seen < segments) return false;
    }
    return true;
  }
  void push(double time, What what, std::uint32_t which) { queue_.push({time, order_++, what, which}); }
  // The one that is free first.
  double& interface(std::vector<double>& all, std::int32_t rank) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(rank) * interfaces_);
    return *std::min_element(first, first + static_cast<std::ptrdiff_t>(interfaces_));
  }

  const Plan& plan_;
  const Topology& topology_;
  const Machine& machine_;
  const Interruptions& noise_;
  std::vector<Progress> progress_;
  std::size_t interfaces_;
  std::vector<double> sending_, receiving_, processor_, links_;  // free from then on
  std::vector<Message> messages_;
  std::vector<std::uint32_t> spare_;
  std::vector<Index> next_;
  Queue<Event> queue_;
  std::uint32_t order_ = 0;
  double now_ = 0;
};

void Links::handle(const Event& e) {
  switch (e.what) {
    case head:
      return move(e.which);
    case arrived: {
      const Index receive = plan_.steps()[messages_[e.which].step].match;
      spare_.push_back(e.which);
      ++progress_[receive].arrived;
      return advance(receive);
    }
    default:
      return complete(e.which);
  }
}

void Links::move(std::uint32_t message) {
  Message& m = messages_[message];
  const Step& s = plan_.steps()[m.step];
  const double stream = machine_.stream(s.bytes);
  if (m.hop < m.way.size()) {
    const Link link = m.way[m.hop++];
    double& free = links_[static_cast<std::size_t>(plan_.representative() ? topology_.kind(link) : link)];
    const double begin = std::max(now_, free);
    free = begin + stream;
    return push(begin + machine_.hop, head, message);
  }
  double& free = interface(receiving_, plan_.representative() ? 0 : s.peer);
  free = std::max(now_, free) + stream;
  push(free, arrived, message);
}

void Links::inject(Index i, const Step& s) {
  double& free = interface(sending_, s.rank);
  const double stream = machine_.stream(s.bytes);
  const double flows = noise_.done(s.rank, std::max(now_, free), machine_.overhead);
  free = flows + stream;
  if (spare_.empty()) {
    spare_.push_back(static_cast<std::uint32_t>(messages_.size()));
    messages_.emplace_back();
  }
  const std::uint32_t message = spare_.back();
  spare_.pop_back();
  Message& m = messages_[message];
  m.step = i;
  m.hop = 0;
  route(s, topology_, m.way);
  push(flows, head, message);
  push(free, injected, i);
}

void Links::advance(Index i) {
  const Step& s = plan_.steps()[i];
  Progress& p = progress_[i];
  if (s.kind == Kind::receive) {
    while (p.done < p.arrived && satisfied(s, p.done)) {
      p.begun = p.done + 1;
      complete(i);
    }
    return;
  }
  if (p.begun > p.done || p.done == s.segments || !satisfied(s, p.done)) return;
  ++p.begun;
  for (const Index f : plan_.frees(s))
    for (const Wait& w : plan_.waits(plan_.steps()[f]))
      if (w.started && w.on == i) next_.push_back(f);
  if (s.kind == Kind::send) return inject(i, s);
  const double work = s.kind == Kind::compute ? s.bytes : s.bytes * (s.kind == Kind::copy ? machine_.copy : machine_.reduce);
  double& free = processor_[static_cast<std::size_t>(s.rank)];
  if (work <= 0) return complete(i);
  free = noise_.done(s.rank, std::max(now_, free), work);
  push(free, worked, i);
}

}  // namespace

Time link_events(const Plan& plan, const Topology& topology, const Machine& machine, const Interruptions& noise) {
  return Links(plan, topology, machine, noise).run();
}

}  // namespace fl::network
