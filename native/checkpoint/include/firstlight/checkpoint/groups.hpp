// Which ranks keep copies of one another, or parity in common. Ranks of one node are numbered side by side, `distance` of them, so members
// that are `distance` ranks apart are on different nodes.
#pragma once

#include <cstring>
#include <vector>

#include "firstlight/checkpoint/manifest.hpp"

namespace fl::checkpoints::inline FL_ROLE {

// The rank that keeps a copy of this one's piece.
inline int partner_of(int rank, int ranks, Index distance) { return static_cast<int>((rank + distance) % ranks); }

// The members of the group of a rank, in order: at least `wanted` of them, or all there are.
inline std::vector<int> group_of(int rank, int ranks, Index distance, Index wanted) {
  const Index column = rank % distance, row = rank / distance, rows = (ranks - column + distance - 1) / distance;
  const Index groups = std::max<Index>(1, rows / wanted);
  const Part mine = part(rows, groups, part_of(rows, groups, row));
  std::vector<int> members;
  for (Index r = mine.begin; r < mine.end; ++r) members.push_back(static_cast<int>(r * distance + column));
  return members;
}

// Parity as in RAID 5. Each member cuts its bytes into one chunk for each other member, which keeps the exclusive or of the chunks that it
// receives. A lost member is the exclusive or of these parities and of the other members' chunks.
class Parity {
 public:
  Parity(std::vector<int> members, const std::vector<Piece>& pieces) : members_(std::move(members)) {
    std::size_t longest = 0;
    for (const int m : members_) longest = std::max(longest, static_cast<std::size_t>(pieces[static_cast<std::size_t>(m)].bytes));
    const std::size_t others = std::max<std::size_t>(1, members_.size() - 1);
    chunk_ = ((longest + others - 1) / others + 7) / 8 * 8;
  }

  const std::vector<int>& members() const { return members_; }
  std::size_t chunk() const { return chunk_; }  // bytes

  // Adds to `sum` the chunk that member `of` cut for member `at`; the bytes beyond its end are zero.
  void add(unsigned char* sum, const unsigned char* data, std::size_t bytes, int of, int at) const {
    const std::size_t begin = place(of, at) * chunk_;
    if (begin < bytes) exclusive_or(sum, data + begin, std::min(chunk_, bytes - begin));
  }
  // Puts a chunk of member `of` that was rebuilt from the parity of member `at` into its place.
  void put(unsigned char* data, std::size_t bytes, const unsigned char* chunk, int of, int at) const {
    const std::size_t begin = place(of, at) * chunk_;
    if (begin < bytes) std::memcpy(data + begin, chunk, std::min(chunk_, bytes - begin));
  }

 private:
  static void exclusive_or(unsigned char* to, const unsigned char* from, std::size_t bytes) {
    for (std::size_t k = 0; k < bytes; ++k) to[k] ^= from[k];
  }
  std::size_t place(int of, int at) const {
    const auto number = [&](int m) { return static_cast<std::size_t>(std::find(members_.begin(), members_.end(), m) - members_.begin()); };
    return number(at) < number(of) ? number(at) : number(at) - 1;
  }

  std::vector<int> members_;
  std::size_t chunk_ = 0;
};

}  // namespace fl::checkpoints::inline FL_ROLE
