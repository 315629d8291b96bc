// Discrete events of LogGOPS: processors and interfaces queue, the network does not. An operation that finds its processor or
// interface taken tries again when it is free; of those that try at one time the one that was made first goes first.
// Source: Hoefler, Schneider, Lumsdaine 2010, LogGOPSim: Simulating Large-Scale Applications in the LogGOPS Model.
#include <algorithm>
#include <unordered_map>

#include "firstlight/network/evaluate.hpp"
#include "heap.hpp"

namespace fl::network {

namespace {

using collectives::Kind;

struct Event {
  double time;
  std::uint64_t order;
  std::uint32_t step;
  bool message;         // the first byte of it arrives at the step, a receive
  bool waited = false;  // the first of a line
  bool before(const Event& e) const { return time < e.time || (time == e.time && order < e.order); }
};

// Events that found the same processor and interface taken try again together, the one that was made first before the others.
struct Line {
  double time = 0;
  std::vector<Event> events;  // a heap

  const Event& first() const { return events.front(); }
  void push(const Event& e) {
    events.push_back(e);
    std::ranges::push_heap(events, later);
  }
  void pop() {
    std::ranges::pop_heap(events, later);
    events.pop_back();
  }

 private:
  static bool later(const Event& a, const Event& b) { return a.order > b.order; }
};

struct Progress {
  std::int32_t queued = 0, begun = 0, done = 0, posted = 0, arrived = 0;  // segments
  double since = 0;                                                       // not before that
};

class LogGOPS {
 public:
  LogGOPS(const Plan& plan, const Machine& machine, const Interruptions& noise)
      : plan_(plan), machine_(machine), noise_(noise), progress_(plan.steps().size()) {
    for (const Step& s : plan.steps()) {
      processors_ = std::max<std::size_t>(processors_, s.cpu + std::size_t{1});
      interfaces_ = std::max<std::size_t>(interfaces_, s.nic + std::size_t{1});
    }
    // As many interfaces as the schedule names, but not more than there are.
    interfaces_ = std::min(interfaces_, static_cast<std::size_t>(machine.interfaces));
    const auto ranks = static_cast<std::size_t>(plan.ranks());
    processor_.resize(ranks * processors_, 0);
    sending_.resize(ranks * interfaces_, 0);
    receiving_.resize(ranks * interfaces_, 0);
  }

  Time run() {
    for (std::int32_t rank = 0; rank < plan_.ranks(); ++rank) {
      for (Index i = plan_.first(rank); i < plan_.first(rank + 1); ++i)
        if (!posted_first(i)) freed_.push_back(i);
      release();
    }
    Time result{.exact = true};
    while (!queue_.empty()) {
      const Event e = queue_.top();
      const Step& s = plan_.steps()[e.step];
      Line* const line = e.waited ? &lines_.find(line_of(e, s))->second : nullptr;
      if (line != nullptr && (line->events.empty() || line->first().order != e.order || line->time != e.time)) {
        queue_.pop();  // another event has become the first of this line
        continue;
      }
      result.events += 1;
      if (const double until = taken(e, s); until > e.time) {
        if (line != nullptr) result.events += std::ssize(line->events) - 1;
        wait(e, line != nullptr ? *line : lines_[line_of(e, s)], until);
        continue;
      }
      queue_.pop();
      if (line != nullptr) {
        line->pop();
        if (!line->events.empty()) queue_.push(tried_again(*line));
      }
      if (!queue_.empty()) {
        __builtin_prefetch(&plan_.steps()[queue_.top().step]);
        __builtin_prefetch(&progress_[queue_.top().step]);
      }
      if (e.message)
        arrive(e, s);
      else if (s.kind == Kind::send)
        send(e, s);
      else if (s.kind == Kind::receive)
        post(e, s);
      else
        work(e, s);
      if (!freed_.empty()) release();
    }
    ended();
    for (const double t : processor_) result.nanoseconds = std::max(result.nanoseconds, t);
    return result;
  }

 private:
  void send(const Event& e, const Step& s);
  void arrive(const Event& e, const Step& s);
  void post(const Event& e, const Step& s);
  void work(const Event& e, const Step& s);
  // A receive that waits for nothing is there before anything starts.
  bool posted_first(Index i) {
    const Step& s = plan_.steps()[i];
    if (s.kind != Kind::receive || s.waits != s.waits_end || s.segments != 1) return false;
    ++progress_[i].queued;
    ++progress_[i].posted;
    begin(i, 0);
    return true;
  }
  void ended() const;
  static Event tried_again(const Line& line) {
    Event e = line.first();
    e.time = line.time;
    e.waited = true;
    return e;
  }
  // Moves the first event, or the line of which it is the first, to a later time.
  void wait(const Event& e, Line& line, double until) {
    if (e.waited || line.events.empty()) line.time = until;
    if (!e.waited) line.push(e);
    if (line.first().order == e.order)
      queue_.sink(tried_again(line));
    else
      queue_.pop();
  }
  // Events of one line need the same processor and interface.
  std::uint64_t line_of(const Event& e, const Step& s) const {
    const std::uint64_t what = e.message ? 0 : s.kind == Kind::send ? 1 : 2;
    return (interface(s) * processors_ + s.cpu) * 3 + what;
  }
  void begin(Index i, double time);
  void finish(Index i, double time);
  void release();
  void queue(Index i);
  bool satisfied(const Step& s, std::int32_t segment) const {
    for (const Wait& w : plan_.waits(s)) {
      const std::int32_t segments = plan_.steps()[w.on].segments, seen = w.started ? progress_[w.on].begun : progress_[w.on].done;
      if (segments == s.segments ? seen <= segment : seen < segments) return false;
    }
    return true;
  }
  std::size_t interface(const Step& s) const { return static_cast<std::size_t>(s.rank) * interfaces_ + s.nic % interfaces_; }
  double& processor(const Step& s) { return processor_[static_cast<std::size_t>(s.rank) * processors_ + s.cpu]; }
  void push(double time, Index step, bool message) { queue_.push({.time = time, .order = order_++, .step = step, .message = message}); }
  // Until when what an event needs is taken.
  double taken(const Event& e, const Step& s) {
    if (e.message) return std::max(processor(s), receiving_[interface(s)]);
    if (s.kind == Kind::receive) return 0;
    return s.kind == Kind::send ? std::max(processor(s), sending_[interface(s)]) : processor(s);
  }

  const Plan& plan_;
  const Machine& machine_;
  const Interruptions& noise_;
  std::vector<Progress> progress_;
  std::size_t processors_ = 1, interfaces_ = 1;
  std::vector<double> processor_, sending_, receiving_;  // free from then on
  std::vector<Index> freed_;
  std::unordered_map<std::uint64_t, Line> lines_;
  Heap<Event> queue_;
  std::uint64_t order_ = 0;
};

void LogGOPS::send(const Event& e, const Step& s) {
  double &cpu = processor(s), &nic = sending_[interface(s)];
  const Machine::Cost cost = machine_.cost(s.bytes);
  const double sent = noise_.done(s.rank, e.time, machine_.o);
  cpu = cost.body > 0 ? noise_.done(s.rank, e.time, cost.send) : sent;
  nic = e.time + cost.gap;
  begin(e.step, e.time);
  push(sent + machine_.L, s.match, true);
  if (loggops_bytes(s.bytes) <= machine_.S) finish(e.step, cpu);
}

void LogGOPS::arrive(const Event& e, const Step& s) {
  double &cpu = processor(s), &nic = receiving_[interface(s)];
  const Machine::Cost cost = machine_.cost(s.bytes);
  cpu = noise_.done(s.rank, e.time, cost.receive);
  nic = e.time + cost.gap;
  Progress& p = progress_[e.step];
  ++p.arrived;
  if (p.posted < p.arrived) return;
  if (loggops_bytes(s.bytes) > machine_.S) {  // the sender may go on; the way of that news costs nothing
    const Step& from = plan_.steps()[s.match];
    double &far = processor(from), &near = sending_[interface(from)];
    far = std::max(far, e.time);
    near = std::max(near, e.time);
    finish(s.match, e.time);
  }
  finish(e.step, cpu);
}

void LogGOPS::post(const Event& e, const Step& s) {
  Progress& p = progress_[e.step];
  ++p.posted;
  begin(e.step, e.time);
  if (p.arrived < p.posted) return;
  if (loggops_bytes(s.bytes) > machine_.S) {
    const Step& from = plan_.steps()[s.match];
    double &far = processor(from), &near = sending_[interface(from)];
    far = std::max(far, e.time);
    near = std::max(near, e.time);
    finish(s.match, e.time);
  }
  finish(e.step, e.time);
}

void LogGOPS::work(const Event& e, const Step& s) {
  double& cpu = processor(s);
  const double work = s.kind == Kind::compute ? s.bytes : s.bytes * (s.kind == Kind::copy ? machine_.copy : machine_.reduce);
  cpu = noise_.done(s.rank, e.time, work);
  begin(e.step, e.time);
  finish(e.step, cpu);
}

void LogGOPS::begin(Index i, double time) {
  ++progress_[i].begun;
  const Step& s = plan_.steps()[i];
  if (s.segments > 1) freed_.push_back(i);
  if (!plan_.starts()) return;
  for (const Index f : plan_.frees(s))
    for (const Wait& w : plan_.waits(plan_.steps()[f]))
      if (w.started && w.on == i) {
        progress_[f].since = std::max(progress_[f].since, time);
        freed_.push_back(f);
      }
}

void LogGOPS::finish(Index i, double time) {
  ++progress_[i].done;
  for (const Index f : plan_.frees(plan_.steps()[i])) {
    progress_[f].since = std::max(progress_[f].since, time);
    freed_.push_back(f);
  }
}

// Queues what may go now: sends first, then receives, then work. Segments of a train begin one after the other.
void LogGOPS::release() {
  const auto class_of = [this](Index i) {
    const Kind k = plan_.steps()[i].kind;
    return k == Kind::send ? 0 : k == Kind::receive ? 1 : 2;
  };
  bool some[3] = {false, false, false};
  for (const Index i : freed_) some[class_of(i)] = true;
  for (int now = 0; now < 3; ++now) {
    if (!some[now]) continue;
    for (const Index i : freed_)
      if (class_of(i) == now) queue(i);
  }
  freed_.clear();
}

void LogGOPS::queue(Index i) {
  const Step& s = plan_.steps()[i];
  Progress& p = progress_[i];
  if (p.queued == s.segments || p.queued > p.begun || !satisfied(s, p.queued)) return;
  ++p.queued;
  const double resource = s.kind == Kind::send ? std::max(processor(s), sending_[interface(s)]) : processor(s);
  push(std::max(p.since, resource), i, false);
}

// A message above S that waits for a receive which comes only after it leaves its rank where it is.
void LogGOPS::ended() const {
  for (Index i = 0; i < progress_.size(); ++i) {
    const Step& s = plan_.steps()[i];
    if (progress_[i].done == s.segments) continue;
    throw Endless("rank " + std::to_string(s.rank) + " waits forever: messages above S = " +
                  std::to_string(static_cast<std::int64_t>(machine_.S)) + " bytes are complete only when they are received");
  }
}

}  // namespace

Time loggops_events(const Plan& plan, const Machine& machine, const Interruptions& noise) { return LogGOPS(plan, machine, noise).run(); }

}  // namespace fl::network
