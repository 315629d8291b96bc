// The program of one rank, unrolled: what the executor runs. Independent of MPI.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "firstlight/collectives/schedule.hpp"

namespace fl::collectives {

enum class Where : std::uint8_t { data, input, scratch, temporary };  // temporary: messages on their way into a sum

// Neighbouring elements; offset and length in elements.
struct Piece {
  std::int64_t offset = 0, length = 0;
};

struct Pieces {
  Where where = Where::data;
  std::uint32_t first = 0, count = 0;  // of Plan::pieces
};

enum class Act : std::uint8_t { send, receive, reduce, copy };

struct Item {
  Act act = Act::copy;
  Rank peer = -1;
  std::int32_t tag = 0;       // no other message between the two ranks that may be on its way has it
  std::int64_t elements = 0;  // of the message
  std::int64_t order = 0;     // earlier is more urgent
  Pieces place = {};          // read (send), written (receive, copy) or added to (reduce)
  Pieces source = {};         // what a copy reads and a reduction adds
};

struct Edge {
  std::uint32_t from = 0, to = 0;
  bool started = false;  // `to` waits for the start of `from` only
};

struct Plan {
  std::vector<Item> items;  // in an order in which edges point forwards
  std::vector<Edge> edges;
  std::vector<Piece> pieces;
  std::vector<Piece> left;                  // elements of the input that are copied into the data first
  std::int64_t scratch = 0, temporary = 0;  // elements

  std::span<const Piece> of(const Pieces& p) const { return std::span(pieces).subspan(p.first, p.count); }
};

// Raises Refused.
Plan unroll(const Schedule& schedule, Rank me, std::int64_t elements, bool apart);

// A step of a program that needs no bookkeeping.
struct Step {
  enum class Do : std::uint8_t { post, start, wait, receive, send, reduce, copy };
  Do what = Do::copy;
  std::uint32_t item = 0;
};

// The plan as such a list, up to the waits for everything at the end; empty where a wait would hold up an item that need not wait.
// `small`: elements of a message that are sent before a receive is posted.
struct Chain {
  bool possible = false;
  std::vector<Step> steps;
  std::vector<std::uint32_t> last;  // items that are waited for together at the end
};
Chain chain(const Plan& plan, std::int64_t small);

}  // namespace fl::collectives
