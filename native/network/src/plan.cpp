#include "firstlight/network/plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fl::network {

using collectives::Collective;
using collectives::Kind;
using collectives::Operation;
using collectives::Program;
using collectives::Refused;
using collectives::Schedule;
using collectives::Symmetry;

namespace {

// The rank from which a message comes to rank 0 if rank 0 sends its own to `to`.
std::int32_t opposite(const Schedule& s, std::int32_t to) {
  if (s.symmetry == Symmetry::exclusive) return to;
  if (s.symmetry == Symmetry::cyclic) return to == 0 ? 0 : s.ranks - to;
  std::int32_t from = 0, stride = 1;
  for (const std::int32_t extent : s.shape) {
    from += (extent - to % extent) % extent * stride;
    to /= extent;
    stride *= extent;
  }
  return from;
}

// Whether rank 0 talks to ranks only that are one link away.
bool to_neighbours(const Schedule& s, const Topology& t) {
  Program program;
  s.program(0, program);
  std::vector<Link> way;
  for (const Operation& o : program.operations()) {
    if (o.kind != Kind::send) continue;
    t.route(t.node_of(0), t.node_of(o.peer), way);
    if (way.size() > 1) return false;
  }
  return true;
}

constexpr const char* too_many =
    " operations are too many for individual evaluation. If all ranks behave alike (on a torus, without noise), one "
    "rank is evaluated for all";

}  // namespace

double whole(const Schedule& s, double bytes) {
  if (s.chunk_bytes > 0) return s.chunk_bytes * static_cast<double>(s.chunks);
  const bool blocks =
      s.collective == Collective::allgather || s.collective == Collective::reduce_scatter || s.collective == Collective::alltoall;
  return blocks ? bytes * s.ranks : bytes;
}

bool representative(const Schedule& s, const Topology& t) {
  if (s.symmetry == Symmetry::none || !s.missing.empty() || s.ranks != t.nodes()) return false;
  if (s.symmetry == Symmetry::torus && s.shape.empty()) return false;
  if (t.links() == 0) return true;
  if (s.symmetry == Symmetry::exclusive) return t.exclusive();
  if (t.rings()) return s.symmetry == Symmetry::torus && s.shape == t.shape() && to_neighbours(s, t);
  const bool line = s.symmetry == Symmetry::cyclic && t.shape().size() == 1;
  return t.translates() && (line || (s.symmetry == Symmetry::torus && s.shape == t.shape()));
}

Plan::Plan(const Schedule& schedule, double bytes, bool representative) : representative_(representative) {
  const double chunk_bytes = schedule.chunk_bytes > 0 ? schedule.chunk_bytes
                             : schedule.chunks > 0    ? bytes / static_cast<double>(schedule.chunks)
                                                      : 0;
  const std::int32_t ranks = representative ? 1 : schedule.ranks;
  first_.reserve(static_cast<std::size_t>(ranks) + 1);
  Program program;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    first_.push_back(static_cast<Index>(steps_.size()));
    append(schedule, rank, chunk_bytes, program);
    if (rank == 0) {
      const double all = static_cast<double>(steps_.size()) * ranks;
      if (all < static_cast<double>(most_steps)) steps_.reserve(static_cast<std::size_t>(all));
    }
    if (steps_.size() > most_steps) throw Refused("more than " + std::to_string(most_steps) + too_many);
  }
  first_.push_back(static_cast<Index>(steps_.size()));
  match(&schedule);
  invert();
  sort();
  if (representative) {
    operations_ *= schedule.ranks;
    messages_ *= schedule.ranks;
  }
}

Plan::Plan(Listing listing)
    : steps_(std::move(listing.steps)),
      waits_(std::move(listing.waits)),
      first_(std::move(listing.first)),
      tags_(std::move(listing.tags)),
      representative_(false) {
  operations_ = static_cast<std::int64_t>(steps_.size());
  messages_ = std::ranges::count(steps_, Kind::send, &Step::kind);
  match(nullptr);
  invert();
  sort();
}

// A combine becomes a receive into memory of its own, which waits for nothing, and an addition, which waits for that and the rest.
void Plan::append(const Schedule& schedule, std::int32_t rank, double chunk_bytes, Program& program) {
  program.clear();
  schedule.program(rank, program);
  places_.clear();
  for (const Operation& o : program.operations()) {
    Step s{.kind = o.kind, .cpu = o.cpu, .nic = o.nic, .rank = rank, .peer = o.peer, .segments = o.range.segments, .round = o.round};
    s.bytes = o.kind == Kind::compute ? static_cast<double>(o.range.count) : static_cast<double>(o.range.count) * chunk_bytes;
    if (s.segments < 1) throw Refused("an operation has no segments");
    const bool message = o.kind == Kind::send || o.kind == Kind::receive || o.kind == Kind::combine;
    if (message && (o.peer < 0 || o.peer >= schedule.ranks))
      throw Refused("rank " + std::to_string(rank) + " communicates with " + std::to_string(o.peer) + ", which is not a rank");
    s.waits = static_cast<Index>(waits_.size());
    const auto here = static_cast<Index>(steps_.size());
    if (o.kind == Kind::combine) {
      Step received = s;
      received.kind = Kind::receive;
      received.waits_end = s.waits;
      steps_.push_back(received);
      tags_.push_back(o.tag);
      waits_.push_back({here});
    }
    places_.push_back(static_cast<Index>(steps_.size()));
    for (const collectives::Dependency& d : program.after(o)) waits_.push_back({places_[static_cast<std::size_t>(d.on)], d.started});
    s.waits_end = static_cast<Index>(waits_.size());
    steps_.push_back(s);
    tags_.push_back(o.tag);
    trains_ = trains_ || s.segments > 1;
    operations_ += s.segments;
    if (o.kind == Kind::send) messages_ += s.segments;
  }
}

// Messages between two ranks with one tag match in the order of both programs. Sends are dealt out to their receivers, and then both
// sides of one receiver are sorted by sender, tag and order.
void Plan::match(const Schedule* schedule) {
  std::vector<Index> start(first_.size() + 1, 0);
  const auto box = [this](const Step& s) { return representative_ ? std::size_t{0} : static_cast<std::size_t>(s.peer); };
  for (const Step& s : steps_)
    if (s.kind == Kind::send) ++start[box(s) + 1];
  for (std::size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
  std::vector<Index> sends(start.back()), next(start.begin(), start.end() - 1);
  for (Index i = 0; i < steps_.size(); ++i)
    if (steps_[i].kind == Kind::send) sends[next[box(steps_[i])]++] = i;
  for (std::int32_t rank = 0; rank < ranks(); ++rank) {
    const auto r = static_cast<std::size_t>(rank);
    match_for(schedule, rank, std::span(sends).subspan(start[r], start[r + 1] - start[r]));
  }
}

namespace {

struct Key {
  std::int32_t from, tag;
  Index step;
  friend auto operator<=>(const Key&, const Key&) = default;
};

}  // namespace

void Plan::match_for(const Schedule* schedule, std::int32_t receiver, std::span<const Index> sends) {
  static thread_local std::vector<Key> sent, wanted;
  sent.clear();
  wanted.clear();
  for (const Index i : sends) sent.push_back({representative_ ? opposite(*schedule, steps_[i].peer) : steps_[i].rank, tags_[i], i});
  for (Index i = first(receiver); i < first(receiver + 1); ++i)
    if (steps_[i].kind == Kind::receive) wanted.push_back({steps_[i].peer, tags_[i], i});
  if (!std::ranges::is_sorted(sent)) std::ranges::sort(sent);
  if (!std::ranges::is_sorted(wanted)) std::ranges::sort(wanted);
  const auto words = [receiver](const char* does, const Key& k, const char* then) {
    return Endless("rank " + std::to_string(receiver) + does + std::to_string(k.from) + then + std::to_string(k.tag));
  };
  for (std::size_t k = 0; k < std::max(sent.size(), wanted.size()); ++k) {
    const bool both = k < sent.size() && k < wanted.size() && sent[k].from == wanted[k].from && sent[k].tag == wanted[k].tag;
    if (!both && k < sent.size() && (k >= wanted.size() || std::pair(sent[k].from, sent[k].tag) < std::pair(wanted[k].from, wanted[k].tag)))
      throw words(" does not receive the message that rank ", sent[k], " sends with tag ");
    if (!both) throw words(" waits for a message that rank ", wanted[k], " does not send, with tag ");
    Step &s = steps_[sent[k].step], &r = steps_[wanted[k].step];
    if (s.segments != r.segments)
      throw Refused("rank " + std::to_string(receiver) + " receives a train whose length differs from the one that rank " +
                    std::to_string(sent[k].from) + " sends");
    if (s.bytes != r.bytes && mismatches_++ == 0)
      mismatch_ = "rank " + std::to_string(receiver) + " receives " + std::to_string(std::llround(r.bytes)) + " b where rank " +
                  std::to_string(sent[k].from) + " sends " + std::to_string(std::llround(s.bytes)) + " b with tag " +
                  std::to_string(sent[k].tag);
    r.bytes = s.bytes;
    s.match = wanted[k].step;
    r.match = sent[k].step;
  }
}

void Plan::invert() {
  for (const Wait& w : waits_) {
    ++steps_[w.on].frees_end;
    starts_ = starts_ || w.started;
  }
  Index sum = 0;
  for (Step& s : steps_) {
    const Index count = s.frees_end;
    s.frees = s.frees_end = sum;
    sum += count;
  }
  frees_.resize(sum);
  for (Index i = 0; i < steps_.size(); ++i)
    for (Index w = steps_[i].waits; w < steps_[i].waits_end; ++w) frees_[steps_[waits_[w].on].frees_end++] = i;
}

// Kahn's algorithm, breadth first, and the longest chain of messages on the way.
void Plan::sort() {
  std::vector<Index> missing(steps_.size());
  std::vector<std::int32_t> chain(steps_.size(), 0);
  order_.reserve(steps_.size());
  for (Index i = 0; i < steps_.size(); ++i) {
    missing[i] = steps_[i].waits_end - steps_[i].waits + (steps_[i].kind == Kind::receive ? 1 : 0);
    if (missing[i] == 0) order_.push_back(i);
  }
  const auto after = [&](Index i, std::int32_t depth) {
    chain[i] = std::max(chain[i], depth);
    if (--missing[i] == 0) order_.push_back(i);
  };
  for (std::size_t k = 0; k < order_.size(); ++k) {
    const Index i = order_[k];
    const Step& s = steps_[i];
    depth_ = std::max(depth_, chain[i] + (s.kind == Kind::send ? 1 : 0));
    for (const Index f : frees(s)) after(f, chain[i]);
    if (s.kind == Kind::send) after(s.match, chain[i] + 1);
  }
  if (order_.size() != steps_.size()) throw Endless("operations wait for each other in a cycle: this schedule never ends");
}

// Operations begin when what they wait for allows it. A send is complete when it has begun and its receive is posted, a receive likewise.
std::string stuck(const Plan& plan) {
  const std::span<const Step> steps = plan.steps();
  // A receive is there before anything else begins if it waits for nothing, or for the start of such receives only.
  std::vector<bool> first(steps.size(), false);
  bool all = true;
  for (Index i = 0; i < steps.size() && all; ++i) {
    if (steps[i].kind != Kind::receive) continue;
    all = std::ranges::all_of(plan.waits(steps[i]), [&](const Wait& w) { return w.started && first[w.on]; });
    first[i] = all;
  }
  if (all) return "";  // then a send is complete at once
  std::vector<Index> missing(steps.size()), ready;
  std::vector<bool> begun(steps.size(), false);
  std::size_t done = 0;
  for (Index i = 0; i < steps.size(); ++i) {
    missing[i] = steps[i].waits_end - steps[i].waits;
    if (missing[i] == 0) ready.push_back(i);
  }
  const auto release = [&](Index i, bool started) {
    Index before = i;  // a step that waits twice for an operation is there twice, side by side
    for (const Index f : plan.frees(steps[i])) {
      if (f == before) continue;
      before = f;
      for (const Wait& w : plan.waits(steps[f]))
        if (w.on == i && w.started == started && --missing[f] == 0) ready.push_back(f);
    }
  };
  const auto complete = [&](Index i) {
    ++done;
    release(i, false);
  };
  while (!ready.empty()) {
    const Index i = ready.back();
    ready.pop_back();
    begun[i] = true;
    release(i, true);
    const bool message = steps[i].kind == Kind::send || steps[i].kind == Kind::receive;
    if (!message) complete(i);
    if (message && begun[steps[i].match]) {
      complete(i);
      complete(steps[i].match);
    }
  }
  if (done == steps.size()) return "";
  for (Index i = 0; i < steps.size(); ++i)
    if (begun[i] && steps[i].kind == Kind::send && !begun[steps[i].match])
      return "rank " + std::to_string(steps[i].rank) + " waits in a send to rank " + std::to_string(steps[i].peer) + " (tag " +
             std::to_string(plan.tag(i)) + "), which is also waiting and posts its receive only later";
  return "operations wait for one another";
}

}  // namespace fl::network
