// Discrete events on a network with links. Whatever queues does so first come, first served, so that it is enough to know when a
// link, an interface or a processor is free again.
#include <algorithm>
#include <bit>
#include <limits>

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

constexpr auto at_goal = std::numeric_limits<std::uint32_t>::max();

struct Message {
  double stream = 0;                // how long it keeps a link
  std::size_t way = 0;              // its links are in `ways_` from there on
  Index receive = 0;                // the step that it goes to
  std::int32_t to = 0;              // and its rank
  std::uint32_t link = at_goal;     // the one that its head comes to
  std::uint32_t hop = 0, hops = 0;  // of the link after that, and of all
  std::uint32_t room = 0;           // for links from `way` on
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
    const auto streams = [&](const Step& s) { return s.kind == Kind::send && machine.stream(s.bytes) > 0; };
    queues_ = std::ranges::any_of(plan.steps(), streams);
  }

  Time run() {
    for (Index i = 0; i < plan_.steps().size(); ++i) {
      advance(i);
      follow();
    }
    Time result;
    while (!queue_.empty()) {
      const Event e = queue_.pop();
      if (!queue_.empty()) fetch(queue_.top(), queue_.second());
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
  // What the next event needs comes into the cache meanwhile, and the message of the one after that.
  void fetch(const Event& e, const Event* then) const {
    if (e.what == head && messages_[e.which].link != at_goal)
      __builtin_prefetch(&links_[messages_[e.which].link]);
    else if (e.what == arrived)
      __builtin_prefetch(&progress_[messages_[e.which].receive]);
    else if (e.what != head)
      __builtin_prefetch(&progress_[e.which]);
    if (then != nullptr && (then->what == head || then->what == arrived)) __builtin_prefetch(&messages_[then->which]);
  }
  void move(std::uint32_t message);
  void advance(Index i);
  void inject(Index i, const Step& s);
  void send_along_way(Message& m);
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
  bool queues_ = true;                                           // at links and at receivers: not if no message keeps them
  std::vector<double> sending_, receiving_, processor_, links_;  // free from then on
  std::vector<Message> messages_;
  std::vector<std::uint32_t> ways_;  // links by their number, or in a representative plan by their kind
  std::vector<Link> way_;
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
      const Index receive = messages_[e.which].receive;
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
  if (m.link != at_goal) {
    double& free = links_[m.link];
    const double begin = std::max(now_, free);
    free = begin + m.stream;
    m.link = m.hop < m.hops ? ways_[m.way + m.hop++] : at_goal;
    return push(begin + machine_.hop, head, message);
  }
  double& free = interface(receiving_, m.to);
  free = std::max(now_, free) + m.stream;
  push(free, arrived, message);
}

// Keeps the way of a message, and leads it to the first link.
void Links::send_along_way(Message& m) {
  m.hops = static_cast<std::uint32_t>(way_.size());
  if (m.room < m.hops) {
    m.room = std::bit_ceil(m.hops);
    m.way = ways_.size();
    ways_.resize(m.way + m.room);
  }
  for (std::size_t hop = 0; hop < way_.size(); ++hop)
    ways_[m.way + hop] = static_cast<std::uint32_t>(plan_.representative() ? topology_.kind(way_[hop]) : way_[hop]);
  m.link = m.hops > 0 ? ways_[m.way] : at_goal;
  m.hop = 1;
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
  m.stream = stream;
  m.receive = s.match;
  m.to = plan_.representative() ? 0 : s.peer;
  route(s, topology_, way_);
  if (queues_) {
    send_along_way(m);
    push(flows, head, message);
  } else {
    double arrival = flows;
    for (std::size_t hop = 0; hop < way_.size(); ++hop) arrival += machine_.hop;
    push(arrival, arrived, message);
  }
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
  if (plan_.starts())
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
