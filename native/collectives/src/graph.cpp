#include <algorithm>

#include "program_check.hpp"
#include "replay.hpp"

namespace fl::collectives {

namespace {

Strip strip(const Range& r) {
  auto small = [](Chunk c) { return static_cast<std::int32_t>(c); };
  return {small(r.first), small(r.count), small(r.run), small(r.stride), small(r.step), small(r.row), small(r.skip), r.space};
}

// A message's end, so that sorting brings together what matches.
struct End {
  std::uint64_t pair;  // sender, receiver
  std::uint64_t rest;  // tag, whether it is the receiver's, node

  Node node() const { return static_cast<Node>(rest & 0x7fffffffU); }
  bool receives() const { return (rest >> 31 & 1U) != 0; }
  bool same_stream(const End& other) const { return pair == other.pair && rest >> 32 == other.rest >> 32; }
  friend auto operator<=>(const End&, const End&) = default;
};

std::string count(std::int64_t n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); }

// The ends of all messages, sorted: dealt out to the senders first, which have few each.
std::vector<End> ends_of(const Graph& graph, const Translation* translation) {
  const auto sender = [&](const Graph::Operation& o) {
    return static_cast<std::size_t>(o.kind == Kind::send ? o.rank : translation != nullptr ? 0 : o.peer);
  };
  const auto message = [](const Graph::Operation& o) { return o.kind != Kind::copy && o.kind != Kind::compute; };
  std::vector<std::size_t> begin(graph.first.size() + 1, 0);
  for (const Graph::Operation& o : graph.operations)
    if (message(o)) ++begin[sender(o) + 2];
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::vector<End> all(begin.back());
  for (std::size_t i = 0; i < graph.operations.size(); ++i) {
    const Graph::Operation& o = graph.operations[i];
    if (!message(o)) continue;
    const bool receives = o.kind != Kind::send;
    const Rank to = !receives ? o.peer : translation != nullptr ? translation->back(0, o.peer) : o.rank;  // as rank 0 sends
    const std::uint64_t pair = std::uint64_t{sender(o)} << 32 | static_cast<std::uint64_t>(to);
    const std::uint64_t tag = static_cast<std::uint32_t>(o.tag);
    all[begin[sender(o) + 1]++] = {pair, tag << 32 | std::uint64_t{receives} << 31 | i};
  }
  for (std::size_t from = 0; from + 1 < begin.size(); ++from)
    std::sort(all.begin() + static_cast<std::ptrdiff_t>(begin[from]), all.begin() + static_cast<std::ptrdiff_t>(begin[from + 1]));
  return all;
}

}  // namespace

void Graph::append(Rank rank, const Program& program) {
  const auto base = static_cast<Node>(operations.size());
  if (first.empty()) first.push_back(0);
  for (const fl::collectives::Operation& o : program.operations()) {
    Operation mine{.range = strip(o.range),
                   .kind = o.kind,
                   .rank = rank,
                   .segments = o.range.segments,
                   .round = o.round,
                   .peer = o.peer,
                   .tag = o.tag};
    mine.dependency = static_cast<std::int32_t>(dependencies.size());
    if (o.kind == Kind::copy) {
      mine.peer = static_cast<std::int32_t>(sources.size());
      sources.push_back(strip(o.source));
    }
    for (const Dependency& d : program.after(o)) dependencies.push_back({base + d.on, d.started});
    operations.push_back(mine);
  }
  first.push_back(static_cast<Node>(operations.size()));
}

std::span<const Graph::Edge> Graph::after(Node node) const {
  const auto n = static_cast<std::size_t>(node);
  const auto begin = static_cast<std::size_t>(operations[n].dependency);
  const auto end = n + 1 < operations.size() ? static_cast<std::size_t>(operations[n + 1].dependency) : dependencies.size();
  return std::span(dependencies).subspan(begin, end - begin);
}

std::string Graph::name(Node node) const {
  const Operation& o = operations[static_cast<std::size_t>(node)];
  const fl::collectives::Operation shown{.kind = o.kind, .peer = o.peer, .tag = o.tag};
  return describe(o.rank, node - first[static_cast<std::size_t>(o.rank)], shown);
}

std::string Graph::match(const Translation* translation) {
  const std::vector<End> all = ends_of(*this, translation);
  ends.reserve(all.size());
  std::string why;
  for (std::size_t begin = 0; begin < all.size();) {
    std::size_t middle = begin, end = begin;
    std::int64_t sent = 0, awaited = 0;
    for (; end < all.size() && all[end].same_stream(all[begin]); ++end) {
      Operation& o = operations[static_cast<std::size_t>(all[end].node())];
      o.stream = static_cast<std::int32_t>(streams.size());
      ends.push_back(all[end].node());
      if (!all[end].receives()) middle = end + 1;
      (all[end].receives() ? awaited : sent) += o.segments;
    }
    if (sent != awaited && why.empty()) {
      const Operation& o = operations[static_cast<std::size_t>(all[begin].node())];
      why = "rank " + std::to_string(all[begin].pair >> 32) + " sends " + count(sent, "message") + " to rank " +
            std::to_string(all[begin].pair & 0xffffffffU) + " with tag " + std::to_string(o.tag) + ", which awaits " +
            std::to_string(awaited);
    }
    // Segment by segment: lengths.
    std::int32_t s = 0, r = 0;
    for (std::size_t i = begin, j = middle; why.empty() && i < middle && j < end;) {
      const Operation& send = operations[static_cast<std::size_t>(all[i].node())];
      const Operation& receive = operations[static_cast<std::size_t>(all[j].node())];
      if (send.range.count != receive.range.count)
        why = name(all[i].node()) + " has " + count(send.range.count, "chunk") + ", and " + name(all[j].node()) + " awaits " +
              std::to_string(receive.range.count);
      const std::int32_t together = std::min(send.segments - s, receive.segments - r);
      if ((s += together) == send.segments) ++i, s = 0;
      if ((r += together) == receive.segments) ++j, r = 0;
    }
    const auto at = [](std::size_t i) { return static_cast<std::int32_t>(i); };
    streams.push_back({at(begin), at(middle), at(middle), at(end)});
    begin = end;
  }
  return why;
}

}  // namespace fl::collectives
