// The numbers of a messenger, and the memory that follows from them: pure functions of how many others a process has contacted and how
// many of those are hot. The messenger allocates by them, the check compares its attached memory with them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "firstlight/lines.hpp"
#include "firstlight/workload.hpp"

namespace messages {

// A tier's buffer for one sender: a ring of slots, each a flag of 4 bytes, a header of 4 bytes and room for `bytes`.
struct Tier {
  fl::Index slots = 0, bytes = 0;
  fl::Index eager = 0;  // messages up to this travel in a slot

  constexpr fl::Index stride() const { return 8 + (bytes + 7) / 8 * 8; }
  constexpr fl::Index ring() const { return slots * stride(); }
};

struct Rules {
  Tier slow{16, 128, 128}, fast{64, 16384, 13700};
  fl::Index upgrade_after = 15;  // messages that make a sender hot
  fl::Index fast_peers = 1024;   // senders at most that have a fast buffer
  bool prepared = false;         // the plain design: a fast buffer for every process from the start, no slow ones
  bool reclaim = false;          // a fast buffer that is not used goes to a sender that is hot
};

// What is before the slow ring in the block of memory that belongs to one contact: words that the other process writes.
inline constexpr fl::Index back_words = 4;

inline constexpr int cards = 16;  // first contacts of a process that are under way at once

constexpr fl::Index door_words(fl::Index ranks) { return 1 + 2 * cards + (ranks + 63) / 64; }
constexpr fl::Index door_bytes(fl::Index ranks) { return fl::whole_pairs(8 * door_words(ranks)); }
constexpr fl::Index contact_bytes(const Rules& r) { return 8 * back_words + (r.prepared ? 0 : r.slow.ring()); }
constexpr fl::Index fast_bytes(const Rules& r) { return r.fast.ring(); }

// Blocks come in slabs, for a library may attach a few pieces of memory only (Open MPI 4.1: 32 a process; 5: 64). The first `one_by_one`
// blocks have slabs of `first` each, then every slab doubles what there is. So many blocks are held where `used` of at most `most` are
// used:
struct Growth {
  fl::Index first = 1, slabs = 1;  // so many slabs of so many blocks, then doubling

  constexpr fl::Index next(fl::Index reserved) const { return reserved < first * slabs ? first : reserved; }
  constexpr fl::Index reserved(fl::Index used, fl::Index most) const {
    fl::Index n = 0;
    while (n < std::min(used, most)) n = std::min(most, n + next(n));
    return n;
  }
};
inline constexpr Growth contact_growth{16, 1}, fast_growth{1, 8};

// Bytes of buffers of one process.
struct Memory {
  fl::Index door = 0, contacts = 0, fast = 0;
  constexpr fl::Index bytes() const { return door + contacts + fast; }
  constexpr bool operator==(const Memory&) const = default;
};

// In use by so many contacts, of which `hot` have sent more than a slow sender may; the messenger's model M of the README.
constexpr Memory used(const Rules& r, fl::Index ranks, fl::Index contacted, fl::Index hot) {
  if (r.prepared) contacted = hot = ranks;
  const fl::Index fast = r.prepared ? hot : std::min(hot, r.fast_peers);
  return {door_bytes(ranks), contacted * contact_bytes(r), fast * fast_bytes(r)};
}

// All that a process ever attaches.
constexpr Memory most(const Rules& r, fl::Index ranks) { return used(r, ranks, ranks, ranks); }

// In use, with what slabs hold in reserve: what is attached.
constexpr Memory reserved(const Rules& r, fl::Index ranks, fl::Index contacted, fl::Index hot) {
  if (r.prepared) return used(r, ranks, ranks, ranks);
  return {door_bytes(ranks), contact_growth.reserved(contacted, ranks) * contact_bytes(r),
          fast_growth.reserved(std::min(hot, r.fast_peers), std::min(r.fast_peers, ranks)) * fast_bytes(r)};
}

// Empty, or which numbers make no messenger.
inline std::string refusal(const Rules& r) {
  if (r.slow.bytes < 16 || r.fast.bytes < 16) return "messages needs slots of 16 bytes at least: an address and a length must fit";
  if (r.slow.eager > r.slow.bytes)
    return fl::text("messages needs slow_eager <= slow_bytes; %lld and %lld given", r.slow.eager, r.slow.bytes);
  if (r.fast.eager > r.fast.bytes)
    return fl::text("messages needs fast_eager <= fast_bytes; %lld and %lld given", r.fast.eager, r.fast.bytes);
  return "";
}

}  // namespace messages
