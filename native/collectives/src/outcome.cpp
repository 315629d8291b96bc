#include "outcome.hpp"

#include <algorithm>
#include <array>

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

// 512 ranks at once: who is known to have come when an operation starts, and when it is complete.
constexpr std::size_t words = 8;
using Known = std::array<std::uint64_t, words>;

void learn(Known& k, const Known& other) {
  for (std::size_t w = 0; w < words; ++w) k[w] |= other[w];
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
    if (o.segments != 1) return "a barrier of trains is not judged";
  const std::vector<Node> sender = senders(graph);
  std::vector<Known> begin(graph.operations.size()), end(graph.operations.size()), left(static_cast<std::size_t>(schedule.ranks));
  constexpr Rank together = 64 * words;
  for (Rank base = 0; base < schedule.ranks; base += together) {
    auto came = [&](Rank rank) {
      Known k{};
      if (rank >= base && rank < base + together) k[static_cast<std::size_t>(rank - base) / 64] = std::uint64_t{1} << ((rank - base) % 64);
      return k;
    };
    for (Rank r = 0; r < schedule.ranks; ++r) left[static_cast<std::size_t>(r)] = came(r);
    for (const auto [node, complete] : events) {
      const auto n = static_cast<std::size_t>(node);
      if (!complete) {
        begin[n] = came(graph.operations[n].rank);
        for (const Graph::Edge& e : graph.after(node)) learn(begin[n], (e.started ? begin : end)[static_cast<std::size_t>(e.on)]);
        continue;
      }
      end[n] = begin[n];
      if (sender[n] >= 0) learn(end[n], begin[static_cast<std::size_t>(sender[n])]);
      learn(left[static_cast<std::size_t>(graph.operations[n].rank)], end[n]);
    }
    for (Rank r = 0; r < schedule.ranks; ++r)
      for (Rank other = base; takes_part(schedule, r) && other < std::min(base + together, schedule.ranks); ++other) {
        const auto bit = static_cast<std::size_t>(other - base);
        if (takes_part(schedule, other) && (left[static_cast<std::size_t>(r)][bit / 64] >> (bit % 64) & 1U) == 0)
          return "rank " + std::to_string(r) + " may leave the barrier before rank " + std::to_string(other) + " came";
      }
  }
  return "";
}

}  // namespace fl::collectives
