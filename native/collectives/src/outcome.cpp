#include "outcome.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <vector>

namespace fl::collectives {

bool takes_part(const Schedule& schedule, Rank rank) { return !std::ranges::binary_search(schedule.missing, rank); }

template <class Content>
std::string wrong_data(const Schedule& schedule, const Replay<Content>& replay) {
  const Collective what = schedule.collective;
  if (what == Collective::other) return "";
  const Chunk block = what == Collective::allgather || what == Collective::alltoall || what == Collective::reduce_scatter
                          ? schedule.chunks / schedule.ranks
                          : schedule.chunks;
  auto sum = [&](Chunk c) {
    Content all{};
    for (Rank r = 0; r < schedule.ranks; ++r)
      if (takes_part(schedule, r)) all += Content::of({r, c, false});
    return all;
  };
  std::vector<Content> sums;
  if (what == Collective::reduce || what == Collective::allreduce)
    for (Chunk c = 0; c < schedule.chunks; ++c) sums.push_back(sum(c));
  for (Rank rank = 0; rank < replay.ranks(); ++rank) {
    if (!takes_part(schedule, rank) || (what == Collective::reduce && rank != schedule.root)) continue;
    const Chunk begin = what == Collective::reduce_scatter ? rank * block : 0;
    const Chunk end = what == Collective::reduce_scatter ? begin + block : schedule.chunks;
    for (Chunk c = begin; c < end; ++c) {
      const auto owner = static_cast<Rank>(c / std::max<Chunk>(block, 1));
      if (block != schedule.chunks && !takes_part(schedule, owner)) continue;
      Content should{};
      switch (what) {
        case Collective::broadcast:
          should = Content::of({schedule.root, c, false});
          break;
        case Collective::reduce:
        case Collective::allreduce:
          should = sums[static_cast<std::size_t>(c)];
          break;
        case Collective::allgather:
          should = Content::of({owner, c, false});
          break;
        case Collective::reduce_scatter:
          should = sum(c);
          break;
        case Collective::alltoall:
          should = Content::of({owner, rank * block + c % block, false});
          break;
        case Collective::barrier:
        case Collective::other:
          continue;
      }
      const Content& is = replay.data(rank, c);
      if (is == should) continue;
      std::string words = "rank " + std::to_string(rank) + ", chunk " + std::to_string(c) + " at the end: ";
      if constexpr (std::is_same_v<Content, Exact>) return words + difference(is, should);
      return words + "not what " + word(what) + " promises";
    }
  }
  return "";
}

template std::string wrong_data(const Schedule&, const Replay<Fingerprint>&);
template std::string wrong_data(const Schedule&, const Replay<Exact>&);
template std::string wrong_data(const Schedule&, const Replay<Single>&);

namespace {

// The ranks that are known to have come: intervals in their order, with gaps between them. Algorithms that join halves
// of halves have one or two.
struct Interval {
  Rank begin, end;
  friend bool operator==(const Interval&, const Interval&) = default;
};
using Known = std::vector<Interval>;

void learn(Known& k, std::span<const Interval> other) {
  if (other.empty() || std::ranges::equal(k, other)) return;
  if (k.size() == 1 && other.size() == 1 && k[0].begin <= other[0].end && other[0].begin <= k[0].end) {
    k[0] = {std::min(k[0].begin, other[0].begin), std::max(k[0].end, other[0].end)};
    return;
  }
  Known all;
  all.reserve(k.size() + other.size());
  std::ranges::merge(k, other, std::back_inserter(all), {}, &Interval::begin, &Interval::begin);
  k.clear();
  for (const Interval& r : all)
    if (k.empty() || k.back().end < r.begin)
      k.push_back(r);
    else
      k.back().end = std::max(k.back().end, r.end);
}

// What is known at the begin and at the end of each operation, in one memory: a set that is equal to an earlier one is stored once.
class Knowledge {
 public:
  struct Place {
    std::size_t first = 0, size = 0;
  };

  std::span<const Interval> operator[](Place p) const { return std::span(intervals_).subspan(p.first, p.size); }
  // `like`: a set that is often equal.
  Place keep(const Known& k, Place like) {
    if (std::ranges::equal(k, (*this)[like])) return like;
    intervals_.insert(intervals_.end(), k.begin(), k.end());
    return {intervals_.size() - k.size(), k.size()};
  }

 private:
  std::vector<Interval> intervals_;
};

Known participants(const Schedule& schedule) {
  Known all;
  Rank begin = 0;
  for (const Rank missing : schedule.missing) {
    if (begin < missing) all.push_back({begin, missing});
    begin = missing + 1;
  }
  if (begin < schedule.ranks) all.push_back({begin, schedule.ranks});
  return all;
}

// The first rank of `all` that `some` of them lack.
Rank first_unknown(const Known& all, const Known& some) {
  for (const Interval& r : all) {
    const auto in = std::ranges::find_if(some, [&](const Interval& x) { return x.begin <= r.begin && r.begin < x.end; });
    if (in == some.end()) return r.begin;
    if (in->end < r.end) return in->end;
  }
  return -1;
}

// Which send a receive belongs to; -1 for all other operations.
std::vector<Node> senders(const Graph& graph) {
  std::vector<Node> sender(graph.operations.size(), -1);
  for (const Graph::Stream& s : graph.streams)
    for (std::int32_t i = 0; i < s.sends - s.send; ++i)
      sender[static_cast<std::size_t>(graph.ends[static_cast<std::size_t>(s.receive + i)])] =
          graph.ends[static_cast<std::size_t>(s.send + i)];
  return sender;
}

}  // namespace

std::string wrong_barrier(const Schedule& schedule, const Graph& graph, const std::vector<Event>& events, const Translation& translation) {
  const auto ranks = static_cast<std::size_t>(schedule.ranks);
  const std::vector<Node> sender = senders(graph);
  std::vector<std::vector<bool>> begin(graph.operations.size()), end(graph.operations.size());
  std::vector<bool> left(ranks);
  auto learn_all = [&](std::vector<bool>& k, const std::vector<bool>& other, Rank by) {
    for (std::size_t r = 0; r < ranks; ++r)
      if (other[r]) k[static_cast<std::size_t>(translation.to(static_cast<Rank>(r), by))] = true;
  };
  for (const auto [node, complete] : events) {
    const auto n = static_cast<std::size_t>(node);
    if (complete) {
      end[n] = begin[n];
      if (sender[n] >= 0) learn_all(end[n], begin[static_cast<std::size_t>(sender[n])], graph.operations[n].peer);
      learn_all(left, end[n], 0);
      continue;
    }
    begin[n].assign(ranks, false);
    begin[n][0] = true;
    for (const Graph::Edge& e : graph.after(node)) learn_all(begin[n], (e.started ? begin : end)[static_cast<std::size_t>(e.on)], 0);
  }
  left[0] = true;
  const auto unknown = std::ranges::find(left, false) - left.begin();
  return unknown == schedule.ranks ? "" : "rank 0 may leave the barrier before rank " + std::to_string(unknown) + " came";
}

std::string wrong_barrier(const Schedule& schedule, const Graph& graph, const std::vector<Event>& events) {
  for (const Graph::Operation& o : graph.operations)
    if (o.segments != 1) return "barriers with pipelined messages cannot be checked";
  const std::vector<Node> sender = senders(graph);
  const Known all = participants(schedule);
  Knowledge knowledge;
  std::vector<Knowledge::Place> begin(graph.operations.size()), end(graph.operations.size());
  std::vector<Known> left(static_cast<std::size_t>(schedule.ranks));
  for (Rank r = 0; r < schedule.ranks; ++r) left[static_cast<std::size_t>(r)] = {{r, r + 1}};
  Known now;
  for (const auto [node, complete] : events) {
    const auto n = static_cast<std::size_t>(node);
    const Rank rank = graph.operations[n].rank;
    if (!complete) {
      now = {{rank, rank + 1}};
      Knowledge::Place last;
      for (const Graph::Edge& e : graph.after(node)) {
        last = (e.started ? begin : end)[static_cast<std::size_t>(e.on)];
        learn(now, knowledge[last]);
      }
      begin[n] = knowledge.keep(now, last);
      continue;
    }
    end[n] = begin[n];
    if (sender[n] >= 0) {
      const Knowledge::Place sent = begin[static_cast<std::size_t>(sender[n])];
      now.assign(knowledge[begin[n]].begin(), knowledge[begin[n]].end());
      learn(now, knowledge[sent]);
      end[n] = knowledge.keep(now, sent);
    }
    learn(left[static_cast<std::size_t>(rank)], knowledge[end[n]]);
  }
  for (Rank r = 0; r < schedule.ranks; ++r) {
    const Known& mine = left[static_cast<std::size_t>(r)];
    if (takes_part(schedule, r) && mine != all)
      return "rank " + std::to_string(r) + " may leave the barrier before rank " + std::to_string(first_unknown(all, mine)) + " came";
  }
  return "";
}

}  // namespace fl::collectives
