#include "replay.hpp"

#include <algorithm>
#include <limits>

namespace fl::collectives {

namespace {

constexpr std::int32_t endless = std::numeric_limits<std::int32_t>::max();

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

template <class Content>
Replay<Content>::Replay(const Schedule& schedule, const Graph& graph, const Translation* translation)
    : schedule_(schedule), graph_(graph), translation_(translation) {}

template <class Content>
std::size_t Replay<Content>::place(Rank rank, Space space, std::int64_t chunk) const {
  return index(rank * (schedule_.chunks + schedule_.scratch) + (space == Space::scratch ? schedule_.chunks : 0) + chunk);
}

template <class Content>
Content Replay<Content>::load(Rank rank, Space space, std::int64_t chunk) const {
  if (space == Space::input) return Content::of({rank, chunk, false});
  return contents_[place(rank, space, chunk)];
}

// A chunk of a message as its receiver has it.
template <class Content>
Content Replay<Content>::sent(const Graph::Operation& send, std::int32_t segment, std::int32_t i, [[maybe_unused]] Rank peer) const {
  Content content = load(send.rank, send.range.space, send.range.chunk(segment, i));
  if constexpr (std::is_same_v<Content, Single>) content.token = translation_->token(content.token, peer);
  return content;
}

// Returns the chunks of a segment; none where a schedule has lengths, not places.
template <class Content>
std::int32_t Replay<Content>::length(const Graph::Operation& o) const {
  return schedule_.collective == Collective::other ? 0 : o.range.count;
}

// What ranks have at the beginning.
template <class Content>
void Replay<Content>::fill() {
  const Collective what = schedule_.collective;
  if (what == Collective::other) return;
  const Chunk block = what == Collective::allgather ? schedule_.chunks / schedule_.ranks : 0;
  const bool vector = what == Collective::reduce || what == Collective::allreduce || what == Collective::reduce_scatter;
  contents_.resize(index(ranks() * (schedule_.chunks + schedule_.scratch)));
  std::size_t at = 0;
  for (Rank rank = 0; rank < ranks(); ++rank)
    for (Chunk c = 0; c < schedule_.chunks + schedule_.scratch; ++c) {
      bool defined = vector || (what == Collective::broadcast && rank == schedule_.root);
      if (what == Collective::allgather) defined = c / block == rank;
      contents_[at++] = Content::of({rank, c, !defined || c >= schedule_.chunks});
    }
}

template <class Content>
void Replay<Content>::follow() {
  const std::size_t n = graph_.operations.size();
  following_.assign(n + 1, 0);
  for (const Graph::Edge& e : graph_.dependencies) ++following_[index(e.on) + 1];
  for (std::size_t i = 0; i < n; ++i) following_[i + 1] += following_[i];
  followers_.resize(graph_.dependencies.size());
  std::vector<std::int32_t> next(following_.begin(), following_.end() - 1);
  for (std::size_t i = 0; i < n; ++i)
    for (const Graph::Edge& e : graph_.after(static_cast<Node>(i))) followers_[index(next[index(e.on)]++)] = static_cast<Node>(i);
}

template <class Content>
void Replay<Content>::run() {
  fill();
  follow();
  states_.assign(graph_.operations.size(), {});
  cursors_.clear();
  for (const Graph::Stream& s : graph_.streams) cursors_.push_back({s.send, s.receive});
  for (std::size_t i = graph_.operations.size(); i-- > 0;) wake(static_cast<Node>(i));
  while (!list_.empty()) {
    const Node node = list_.back();
    list_.pop_back();
    states_[index(node)].listed = false;
    turn(node);
  }
}

template <class Content>
void Replay<Content>::wake(Node node) {
  State& s = states_[index(node)];
  if (s.listed) return;
  s.listed = true;
  list_.push_back(node);
}

template <class Content>
void Replay<Content>::wake_followers(Node node) {
  for (std::int32_t i = following_[index(node)]; i < following_[index(node) + 1]; ++i) wake(followers_[index(i)]);
}

template <class Content>
void Replay<Content>::complete(Node node) {
  wake_followers(node);
  if (states_[index(node)].done == graph_.operations[index(node)].segments) events_.push_back({node, true});
}

// Looks whether more segments of a node may start.
template <class Content>
bool Replay<Content>::start(Node node) {
  const Graph::Operation& o = graph_.operations[index(node)];
  State& s = states_[index(node)];
  std::int32_t allowed = o.segments;
  for (const Graph::Edge& e : graph_.after(node)) {
    const State& d = states_[index(e.on)];
    const std::int32_t segments = graph_.operations[index(e.on)].segments;
    const std::int32_t ready = e.started ? d.allowed : d.done;
    allowed = std::min(allowed, segments == o.segments ? ready : ready == segments ? endless : 0);
    if (e.started) continue;
    s.depth = std::max(s.depth, d.depth);
    s.latest = std::max(s.latest, d.latest + (segments == o.segments ? 0 : segments - 1));
  }
  if (allowed == s.allowed) return false;
  s.allowed = allowed;
  return true;
}

template <class Content>
void Replay<Content>::turn(Node node) {
  if (!start(node)) return;
  wake_followers(node);
  if (states_[index(node)].allowed == graph_.operations[index(node)].segments) events_.push_back({node, false});
  switch (graph_.operations[index(node)].kind) {
    case Kind::copy:
      copy(node);
      break;
    case Kind::compute:
      states_[index(node)].done = states_[index(node)].allowed;
      complete(node);
      break;
    case Kind::combine:
      add(node);
      break;
    case Kind::send:
    case Kind::receive:
      move(graph_.operations[index(node)].stream);
      break;
  }
}

template <class Content>
void Replay<Content>::copy(Node node) {
  const Graph::Operation& o = graph_.operations[index(node)];
  const Strip& from = graph_.sources[index(o.peer)];
  State& s = states_[index(node)];
  for (; s.done < s.allowed; ++s.done)
    for (std::int32_t i = 0; i < length(o); ++i)
      contents_[place(o.rank, o.range.space, o.range.chunk(s.done, i))] = load(o.rank, from.space, from.chunk(s.done, i));
  complete(node);
}

// Lets all messages of a stream go that may.
template <class Content>
void Replay<Content>::move(std::int32_t stream) {
  const Graph::Stream& ends = graph_.streams[index(stream)];
  Cursor& at = cursors_[index(stream)];
  while (at.send < ends.sends && at.receive < ends.receives) {
    const Node send = graph_.ends[index(at.send)], receive = graph_.ends[index(at.receive)];
    State &s = states_[index(send)], &r = states_[index(receive)];
    const Graph::Operation &from = graph_.operations[index(send)], &to = graph_.operations[index(receive)];
    const bool early = to.kind == Kind::combine;
    const std::int32_t together = std::min(s.allowed - s.done, (early ? to.segments : r.allowed) - r.arrived);
    if (together <= 0) return;
    for (std::int32_t k = 0; k < together; ++k) transfer(send, receive);
    complete(send);
    if (early)
      add(receive);
    else
      complete(receive);
    if (s.done == from.segments) ++at.send;
    if (r.arrived == to.segments) ++at.receive;
  }
}

template <class Content>
void Replay<Content>::transfer(Node send, Node receive) {
  const Graph::Operation &from = graph_.operations[index(send)], &to = graph_.operations[index(receive)];
  State &s = states_[index(send)], &r = states_[index(receive)];
  if (from.round + s.done != to.round + r.arrived || from.round < s.latest) in_rounds_ = false;
  r.depth = std::max(r.depth, s.depth + 1);
  r.latest = std::max(r.latest, to.round + 1);
  depth_ = std::max(depth_, r.depth);
  if (to.kind == Kind::combine && length(from) == 0) {
    // a message without contents
  } else if (to.kind == Kind::combine) {
    std::deque<Content>& waiting = waiting_[receive];
    for (std::int32_t i = 0; i < length(from); ++i) waiting.push_back(sent(from, s.done, i, to.peer));
  } else {
    for (std::int32_t i = 0; i < length(from); ++i)
      contents_[place(to.rank, to.range.space, to.range.chunk(r.done, i))] = sent(from, s.done, i, to.peer);
    ++r.done;
  }
  ++s.done;
  ++r.arrived;
}

template <class Content>
void Replay<Content>::add(Node combine) {
  const Graph::Operation& o = graph_.operations[index(combine)];
  State& s = states_[index(combine)];
  if (s.done == std::min(s.arrived, s.allowed)) return;
  const auto store = waiting_.find(combine);
  for (; s.done < std::min(s.arrived, s.allowed); ++s.done)
    for (std::int32_t i = 0; i < length(o); ++i) {
      contents_[place(o.rank, o.range.space, o.range.chunk(s.done, i))] += store->second.front();
      store->second.pop_front();
    }
  if (store != waiting_.end() && store->second.empty()) waiting_.erase(store);
  complete(combine);
}

// What an operation that cannot go on waits for: an operation of its rank, or its partner.
template <class Content>
Node Replay<Content>::blocker(Node node) const {
  const Graph::Operation& o = graph_.operations[index(node)];
  const State& s = states_[index(node)];
  for (const Graph::Edge& e : graph_.after(node)) {
    const State& d = states_[index(e.on)];
    const std::int32_t segments = graph_.operations[index(e.on)].segments, ready = e.started ? d.allowed : d.done;
    if (segments == o.segments ? ready <= s.done : ready < segments) return e.on;
  }
  const Graph::Stream& ends = graph_.streams[index(o.stream)];
  const Cursor& at = cursors_[index(o.stream)];
  const bool sends = o.kind == Kind::send;
  const Node head = sends                        ? (at.send < ends.sends ? graph_.ends[index(at.send)] : -1)
                    : at.receive < ends.receives ? graph_.ends[index(at.receive)]
                                                 : -1;
  if (head >= 0 && head != node) return head;
  return sends                  ? (at.receive < ends.receives ? graph_.ends[index(at.receive)] : -1)
         : at.send < ends.sends ? graph_.ends[index(at.send)]
                                : -1;
}

template <class Content>
std::string Replay<Content>::stuck() const {
  Node node = -1;
  for (std::size_t i = 0; i < states_.size() && node < 0; ++i)
    if (states_[i].done < graph_.operations[i].segments) node = static_cast<Node>(i);
  if (node < 0) return "";
  std::vector<Node> chain;
  while (node >= 0 && std::ranges::find(chain, node) == chain.end()) {
    chain.push_back(node);
    node = blocker(node);
  }
  const auto cycle = node < 0 ? chain.begin() : std::ranges::find(chain, node);
  std::string words = "deadlock: ";
  for (auto i = cycle; i != chain.end() && i - cycle < 6; ++i) words += (i == cycle ? "" : " waits for ") + graph_.name(*i);
  return words + (node < 0                  ? " waits for a message that is never sent"
                  : chain.end() - cycle > 6 ? " waits for ..."
                                            : " waits for the first of these");
}

template class Replay<Fingerprint>;
template class Replay<Exact>;
template class Replay<Single>;

}  // namespace fl::collectives
