// All operations of all ranks in one table, and the replay of them with any kind of contents.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "contents.hpp"
#include "firstlight/collectives/schedule.hpp"
#include "symmetry.hpp"

namespace fl::collectives {

using Node = std::int32_t;  // an operation of any rank

struct Strip {  // a Range, small
  std::int32_t first = 0, count = 0, run = 0, stride = 0, step = 0, row = 0, skip = 0;
  Space space = Space::data;

  std::int64_t chunk(std::int32_t k, std::int32_t i) const {
    std::int64_t start = first + std::int64_t{k} * step;
    if (row != 0) {
      start += std::int64_t{i / row} * skip;
      i %= row;
    }
    return run == 0 ? start + i : start + std::int64_t{i / run} * stride + i % run;
  }
};

struct Graph {
  struct Operation {
    Strip range;
    Kind kind = Kind::compute;
    Rank rank = 0;
    std::int32_t segments = 1;
    std::int32_t round = 0;
    std::int32_t peer = 0;  // of messages; of a copy: its source, of `sources`
    std::int32_t tag = 0;
    std::int32_t stream = -1;
    std::int32_t dependency = 0;  // of `dependencies`, up to that of the next operation
  };
  struct Edge {
    Node on;
    bool started;
  };
  // One pair and tag: its sends and its receives, each in the order of the program.
  struct Stream {
    std::int32_t send, sends, receive, receives;  // of `ends`, from each up to the next
  };

  std::vector<Operation> operations;
  std::vector<Edge> dependencies;
  std::vector<Strip> sources;
  std::vector<Node> first;  // of each rank, and one more
  std::vector<Stream> streams;
  std::vector<Node> ends;

  void append(Rank rank, const Program& program);
  // Finds the messages; with a translation, between rank 0 and those that it stands for. What is unmatched or differs in length, in words; empty where nothing is.
  std::string match(const Translation* translation = nullptr);
  // The edges that an operation waits for.
  std::span<const Edge> after(Node node) const;
  std::string name(Node node) const;
};

struct Event {
  Node node;
  bool complete;
};

// Runs the graph until nothing moves. With a translation, the graph is that of rank 0, which stands for all.
template <class Content>
class Replay {
 public:
  Replay(const Schedule& schedule, const Graph& graph, const Translation* translation = nullptr);

  void run();
  // Which operations cannot go on, and why; empty where all are complete.
  std::string stuck() const;
  Rank ranks() const { return translation_ == nullptr ? schedule_.ranks : 1; }
  const Content& data(Rank rank, Chunk chunk) const { return contents_[place(rank, Space::data, chunk)]; }
  int depth() const { return depth_; }
  bool in_rounds() const { return in_rounds_; }
  // When all segments of operations were started or complete, in an order that respects all waiting.
  const std::vector<Event>& events() const { return events_; }

 private:
  struct State {
    std::int32_t allowed = 0;  // segments whose dependencies are met: they have started
    std::int32_t arrived = 0;  // segments that came
    std::int32_t done = 0;
    std::int32_t depth = 0;   // messages on the longest chain to here
    std::int32_t latest = 0;  // the round after those of all messages received up to here
    bool listed = false;
  };
  struct Cursor {
    std::int32_t send, receive;
  };

  std::size_t place(Rank rank, Space space, std::int64_t chunk) const;
  Content load(Rank rank, Space space, std::int64_t chunk) const;
  Content sent(const Graph::Operation& send, std::int32_t segment, std::int32_t i, Rank peer) const;
  std::int32_t length(const Graph::Operation& operation) const;
  void fill();
  void follow();
  void wake(Node node);
  void wake_followers(Node node);
  void turn(Node node);
  bool start(Node node);
  void copy(Node node);
  void move(std::int32_t stream);
  void transfer(Node send, Node receive);
  void add(Node combine);
  void complete(Node node);
  Node blocker(Node node) const;

  const Schedule& schedule_;
  const Graph& graph_;
  const Translation* translation_;
  std::vector<Content> contents_;  // of each rank: data, then scratch
  std::vector<State> states_;
  std::vector<Cursor> cursors_;
  std::vector<std::int32_t> following_;  // of each node, of followers_
  std::vector<Node> followers_;
  std::vector<Node> list_;
  std::vector<Event> events_;
  std::unordered_map<Node, std::deque<Content>> waiting_;  // what came for a combine before it may add
  int depth_ = 0;
  bool in_rounds_ = true;
};

}  // namespace fl::collectives
