// The decision table of libfirstlight_coll.so: which algorithm for which collective, number of ranks and size.
//
//   firstlight-collectives 1                                     the first line: what this is, and its version
//   # a comment, and blank lines, anywhere else
//   allreduce  2      0-65535  recursive_doubling  0            collective, ranks, bytes, algorithm, segments
//   broadcast  4-64   65536-*  binary_tree         16
//   alltoall   *      *        library             0
//
// Ranks and bytes: a number, FIRST-LAST (both included), FIRST-* or *. Bytes: of the whole message (broadcast, reduce, allreduce), of one
// rank's block (allgather, reduce_scatter, alltoall); a barrier has 0. Segments: 0 lets a pipelined algorithm choose. The first line
// that fits decides; where none fits, and where the algorithm is `library`, the MPI library's own collective runs.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "firstlight/collectives/algorithm.hpp"

namespace fl::preload {

struct Interval {
  std::int64_t first = 0, last = 0;
  bool has(std::int64_t x) const { return first <= x && x <= last; }
};

struct Rule {
  collectives::Collective collective = collectives::Collective::other;
  Interval ranks, bytes;
  const collectives::Algorithm* algorithm = nullptr;  // null: the library
  std::int32_t segments = 0;
};

// "line 3: there is no algorithm 'rings'"
class BrokenTable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Raises BrokenTable at the first thing that is wrong.
std::vector<Rule> parse(const std::string& text);

}  // namespace fl::preload
