// The two ends of a ring: slots in the memory of the process that reads them, written by one other.
//
//     a slot     flag (4 bytes) | kind and length (4 bytes) | text
//     kinds      message: the text                     letter: address and length of a message that the receiver gets by itself
//                move: the stream goes on in the other ring
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "rules.hpp"
#include "words.hpp"

namespace messages {

enum class Kind : Flag { message, letter, move };

struct Letter {
  Word address, bytes;
};

// The flag of slot `count` of a ring's whole life: never 0, which is the flag of no slot.
constexpr Flag flag_of(Word count) { return static_cast<Flag>(count % 0xFFFFFFFFu) + 1; }

constexpr fl::Index slot_at(const Tier& tier, Word count) {
  return static_cast<fl::Index>(count % static_cast<Word>(tier.slots)) * tier.stride();
}

// What a slot is, and what it contains.
struct Slot {
  Kind kind = Kind::message;
  Flag length = 0;
  const unsigned char* text = nullptr;
};
inline constexpr unsigned kind_bits = 30;  // the kind is above
inline Slot slot_of(const unsigned char* memory) {
  Flag found = 0;
  std::memcpy(&found, memory + sizeof(Flag), sizeof found);
  return {static_cast<Kind>(found >> kind_bits), found & ((Flag{1} << kind_bits) - 1), memory + 2 * sizeof(Flag)};
}

// The end that is read: here. Slots of the ring's whole life are counted.
struct In {
  Tier tier;
  unsigned char* memory = nullptr;
  Word read = 0, credited = 0;  // slots copied out, and the writer's view of it

  // The next slot; null where nothing has come.
  template <class Transport>
  const unsigned char* head(Transport& transport) const {
    const unsigned char* slot = memory + slot_at(tier, read);
    if (!is(slot, flag_of(read))) return nullptr;
    transport.see();
    return slot;
  }
  // One more slot is read. Whether the writer must hear of it: at once, or when half of the ring is.
  bool done(bool at_once) {
    ++read;
    if (!at_once && static_cast<fl::Index>(read - credited) < std::max<fl::Index>(1, tier.slots / 2)) return false;
    credited = read;
    return true;
  }
  // The last slot that was read is the last that its writer wrote: no flag is left for the next writer.
  template <class Transport>
  void clear(Transport& transport) const {
    // A load may have seen that flag before its accumulate was over; a fetch that sees it comes after, and stores may follow.
    const Word last = read - 1;
    while (transport.fetch(reinterpret_cast<Flag*>(memory + slot_at(tier, last))) != flag_of(last)) transport.idle();
    for (fl::Index k = 0; k < tier.slots; ++k) std::memset(memory + k * tier.stride(), 0, sizeof(Flag));
    transport.see();
  }
};

// The end that is written: in another process.
struct Out {
  Tier tier;
  Word sent = 0, read = 0;  // slots published, and how many the reader reported as done
  Word letters = 0;         // the slot behind the last letter
  Word place = 0;           // of the ring, in the other process

  fl::Index room() const { return tier.slots - static_cast<fl::Index>(sent - read); }
  Word slot(Word count) const { return place + static_cast<Word>(slot_at(tier, count)); }
};

// Writes into rings, and remembers what is on its way.
template <class Transport>
class Writer {
 public:
  static constexpr fl::Index most_at_once = 16;  // slots between two calls of publish()

  explicit Writer(Transport& transport) : transport_(transport) {}

  // Into the slot that is k behind the next one, except for its flag. `text` stays as it is until it is published.
  void write(int peer, const Out& ring, fl::Index k, Kind kind, fl::Index length, const void* text, fl::Index bytes) {
    constexpr fl::Index staged = 128;
    Staging& from = staging_[static_cast<std::size_t>(k)];
    from.header = static_cast<Flag>(kind) << kind_bits | static_cast<Flag>(length);
    const Word to = ring.slot(ring.sent + static_cast<Word>(k)) + sizeof(Flag);
    const bool together = bytes <= staged;
    if (together && bytes > 0) std::memcpy(from.text, text, static_cast<std::size_t>(bytes));
    transport_.put(peer, to, &from, static_cast<fl::Index>(sizeof from.header) + (together ? bytes : 0));
    if (!together) transport_.put(peer, to + sizeof from.header, text, bytes);
  }
  // The texts of the next `count` slots are there before the first flag is.
  void publish(int peer, Out& ring, fl::Index count) {
    transport_.complete(peer);
    for (fl::Index k = 0; k < count; ++k, ++ring.sent) transport_.set(peer, ring.slot(ring.sent), flag_of(ring.sent));
    transport_.complete(peer);
  }

 private:
  struct Staging {
    Flag header;
    unsigned char text[128];
  };
  Transport& transport_;
  std::array<Staging, most_at_once> staging_;
};

}  // namespace messages
